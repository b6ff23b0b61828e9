/** The golden file of addresses: what helmfile's own parser makes of them, as JSON, one line for each. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { goldenDir } from "../../version/testing/index.ts";
import type { HelmfileSource } from "./meaning.ts";

interface HelmfileGolden {
  /** The version of helmfile. */
  readonly version: string;
  readonly rows: readonly (readonly [address: string, source: HelmfileSource])[];
  /** Random addresses. */
  readonly random: readonly (readonly [address: string, source: HelmfileSource])[];
}

const file = join(goldenDir, "generated", "helmfile-addresses.json");

export async function readHelmfileGolden(): Promise<HelmfileGolden> {
  return JSON.parse(await readFile(file, "utf8")) as HelmfileGolden;
}

export async function writeHelmfileGolden({
  version,
  rows,
  random,
}: HelmfileGolden): Promise<void> {
  const lines = (each: HelmfileGolden["rows"]) =>
    each.map((row) => JSON.stringify(row)).join(",\n");
  await writeFile(
    file,
    `{\n"version": ${JSON.stringify(version)},\n"rows": [\n${lines(rows)}\n],\n"random": [\n${lines(random)}\n]\n}\n`,
  );
}
