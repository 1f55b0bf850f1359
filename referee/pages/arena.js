// The pages of an arena that have no boards.

import { showPage } from "./arena_page.js";

showPage();
