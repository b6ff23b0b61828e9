/** The program of a reader: reads what tenants wrote, apart from the agent. Ends with its standard input. */
import { parseExact } from "@flotilla/shared/json";
import { serveTasks } from "@flotilla/shared/reader";
import { parseHelmYaml, toHelmJson } from "@flotilla/shared/yaml";
import { performBuildTask } from "../../helm/chartbuild/build-task.ts";
import { performRecordTask } from "../../helm/record/record-task.ts";
import { readChartCalls } from "../../helm/templates/chart-calls.ts";
import { callsInValues } from "../../helm/templates/template-calls.ts";
import { performTemplateTask } from "../values/template/index.ts";
import { parseTask, type ReaderTask } from "./reader-task.ts";

async function perform(task: ReaderTask): Promise<unknown> {
  switch (task.kind) {
    case "chart":
      return await readChartCalls(task);
    case "values":
      return callsInValues(parseExact(task.json), "the values");
    case "yaml":
      // As text: numbers that JSON.parse would round stay exact.
      return toHelmJson(parseHelmYaml(task.text, { name: task.name }) ?? null);
    case "record":
      return await performRecordTask(task.task);
    case "templates":
      return performTemplateTask(task.task);
    case "build":
      return await performBuildTask(task.task);
  }
}

await serveTasks((line) => perform(parseTask(line)));
