/** The program of a reader of the hub: reads what tenants wrote, apart from the hub. Ends with its standard input. */
import { serveTasks } from "@flotilla/shared/reader";
import { chartFactsOf } from "./chart-facts.ts";
import { parseTask } from "./reader-task.ts";

await serveTasks((line) => Promise.resolve(chartFactsOf(parseTask(line))));
