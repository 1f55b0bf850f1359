/** Tells the stories of the replays on stdin, as the viewer does: a list of {lines, metrics, judged, mistakes, without_moments}. */

import { readFileSync } from "node:fs";

globalThis.document = { documentElement: { dataset: {} } };
const { Recording } = await import("../../referee/pages/viewer/app/recording.js");
const { momentsOf } = await import("../../referee/pages/viewer/app/moments.js");
const { DISPLAYS } = await import("../../referee/pages/viewer/app/displays.js");

const stories = JSON.parse(readFileSync(0, "utf-8")).map(({ lines, metrics, judged, mistakes = [], without_moments }) => {
  if (without_moments) for (const display of Object.values(DISPLAYS)) delete display.moments;
  const recording = new Recording();
  recording.feed(new TextEncoder().encode(lines));
  for (const [turn, values] of metrics) recording.learn(recording.track?.measure(turn, values) ?? []);
  if (recording.track?.judged) recording.learn(recording.track.judged(judged));
  recording.mistakes = mistakes;
  recording.finish();
  return { ...momentsOf(recording), problem: recording.problem };
});
console.log(JSON.stringify(stories));
