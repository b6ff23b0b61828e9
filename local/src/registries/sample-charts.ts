/** The charts that the local fleet publishes to begin with. */
import { fileURLToPath } from "node:url";

export const sampleCharts = ["config", "web"] as const;
export type SampleChart = (typeof sampleCharts)[number];

/** The folder with the source of a sample chart. */
export function sampleChartDir(name: SampleChart): string {
  return fileURLToPath(new URL(`../../charts/${name}`, import.meta.url));
}
