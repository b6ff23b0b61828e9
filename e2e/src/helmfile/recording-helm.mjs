#!/usr/bin/env node
// The Helm of a run of helmfile that really runs Helm, except for what would change a cluster or need a network. What it was to upgrade is
// written down, with the values as Helm itself merges them.
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync } from "node:fs";

const { REAL_HELM: helm, DUMP_CHART: dump, RECORD: record } = process.env;
const args = process.argv.slice(2);
const [command, , name, chart, ...flags] = args;

const isValues = (flag) => /^--(values|set|set-string|set-file|set-literal)$/.test(flag);
const print = (...helmArgs) => execFileSync(helm, helmArgs, { encoding: "utf8" });

switch (command) {
  case "upgrade": {
    const values = flags.flatMap((flag, at) => (isValues(flag) ? [flag, flags[at + 1]] : []));
    const rendered = print("template", "x", dump, ...values);
    const json = rendered.slice(rendered.indexOf("values: ") + "values: ".length).trim();
    const metadata = print("show", "chart", chart);
    const field = (key) => new RegExp(`^${key}: *"?([^"\n]*)"?$`, "m").exec(metadata)?.[1];
    const entry = { name, values: JSON.parse(json), chart: `${field("name")} ${field("version")}` };
    appendFileSync(record, `${JSON.stringify(entry)}\n`);
    break;
  }
  case "repo":
    break;
  case "list":
    console.log("NAME\tNAMESPACE\tREVISION");
    break;
  case "template":
    process.exit(
      spawnSync(
        helm,
        args.filter((arg) => !arg.startsWith("--dry-run")),
        { stdio: "inherit" },
      ).status ?? 1,
    );
    break;
  default:
    process.exit(spawnSync(helm, args, { stdio: "inherit" }).status ?? 1);
}
