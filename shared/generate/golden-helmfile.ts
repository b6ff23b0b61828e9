/**
 * Stores what helmfile's own parser makes of addresses: `node shared/generate/golden-helmfile.ts`. Needs Go; the first build takes about
 * a minute of processor time, so no test builds it.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as fc from "fast-check";
import {
  differentAddresses,
  type HelmfileSource,
  refusedAddresses,
  sameAddress,
  sameAddresses,
  writeHelmfileGolden,
} from "../src/charts/helmfile/testing/index.ts";

interface Answers {
  readonly version: string;
  readonly sources: readonly HelmfileSource[];
}

const cwd = fileURLToPath(new URL("../golden/helmfile/", import.meta.url));
const rows = [...sameAddresses, ...Object.values(differentAddresses).flat(), ...refusedAddresses];
const random = [...new Set(fc.sample(sameAddress, { seed: 20, numRuns: 300 }))];

const running = promisify(execFile)("go", ["run", "."], { cwd, maxBuffer: 2 ** 28 });
running.child.stdin?.end(JSON.stringify([...rows, ...random]));
const { version, sources } = JSON.parse((await running).stdout) as Answers;
const row = (address: string, at: number) => [address, sources[at] ?? { refused: true }] as const;
await writeHelmfileGolden({
  version,
  rows: rows.map(row),
  random: random.map((address, at) => row(address, rows.length + at)),
});
