/** The program of a reader: reads what tenants wrote, apart from the agent. Ends with its standard input. */
import { createInterface } from "node:readline";
import { AppError } from "@flotilla/shared/errors";
import { parseExact } from "@flotilla/shared/json";
import { parseHelmYaml, toHelmJson } from "@flotilla/shared/yaml";
import { performBuildTask } from "../chartbuild/index.ts";
import { performRecordTask } from "../record/index.ts";
import { callsInValues, readChartCalls } from "../templates/index.ts";
import { performTemplateTask } from "../values/template/index.ts";
import { parseTask, type ReaderReply, type ReaderTask } from "./reader-task.ts";

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

async function replyTo(line: string): Promise<ReaderReply> {
  try {
    return { kind: "done", value: await perform(parseTask(line)) };
  } catch (thrown) {
    const { code, message } = AppError.from(thrown);
    return { kind: "failed", code, message };
  }
}

for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await replyTo(line))}\n`);
