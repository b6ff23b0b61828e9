/** What the hub asks of a reader, as a line of JSON. */
import * as z from "zod";

const taskSchema = z.object({
  /** The chart of Chart.yaml. */
  chart: z.string(),
  /** The requirements of requirements.yaml, where the chart has one. */
  requirements: z.string().exactOptional(),
});

export type ReaderTask = Readonly<z.infer<typeof taskSchema>>;

export function parseTask(line: string): ReaderTask {
  return taskSchema.parse(JSON.parse(line));
}
