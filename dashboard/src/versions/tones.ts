/** Colours of versions, from the newest to the oldest; from the fourth on they have the same. Pure. */
import type { Tone } from "../state/index.ts";

const tones = ["good", "busy", "warn"] as const satisfies readonly Tone[];

/** `index`: in the list of versions; `version`: "" where none is installed. */
export function toneOfVersion(index: number, version: string): Tone {
  return version === "" ? "off" : (tones[index] ?? "off");
}
