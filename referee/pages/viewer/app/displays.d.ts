/** The drawing code of every game, by its name; the server and the export make this module. */
export const DISPLAYS: Record<string, Display>;
