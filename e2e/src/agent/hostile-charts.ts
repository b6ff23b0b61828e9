/** Charts that are made to end or to slow an agent. */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";

const MiB = 1024 * 1024;

/** By name: the chart, and what its condition says. */
export async function hostileCharts(): Promise<
  readonly (readonly [chart: ChartArchive, why: RegExp])[]
> {
  const of = (name: string, template: string) =>
    chartArchive({ name, version: "1.0.0", templates: { "a.yaml": template } });
  return [
    [archiveBomb("archive-bomb"), /its files have more than 100 MiB/],
    [await of("huge-template", " ".repeat(100 * MiB)), /its templates have more than 32 MiB/],
    [
      await of("reader-killer", `{{ tpl ${"a ".repeat(14 * MiB)} }}`),
      /the process that reads it (ended with|used more than|took more than)/,
    ],
    [
      await of(
        "template-bomb",
        `{{ range until 100000 }}{{ range until 100000 }}${"x".repeat(1_000)}{{ end }}{{ end }}`,
      ),
      /helm used more than \d+ MiB of memory and was killed/,
    ],
    [
      await of("until", "{{ len (until 1000000000) }}"),
      /helm used more than \d+ MiB of memory and was killed/,
    ],
  ];
}

/** One file of 4 GiB, in an archive of 4 MiB. */
function archiveBomb(name: string): ChartArchive {
  const blockCount = 256;
  const zeros = gzipSync(Buffer.alloc(16 * MiB));
  const header = gzipSync(tarHeader(`${name}/bomb`, blockCount * 16 * MiB));
  // gzip members that follow each other are one file.
  const bytes = Buffer.concat([header, ...Array.from({ length: blockCount }, () => zeros)]);
  const digest = createHash("sha256").update(bytes).digest("hex");
  return { name, version: "1.0.0", bytes, digest };
}

function tarHeader(name: string, sizeBytes: number): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write("0000644\0", 100);
  header.write(sizeBytes.toString(8).padStart(11, "0"), 124);
  header.write("00000000000", 136);
  // The checksum counts itself as spaces.
  header.write("        ", 148);
  header.write("0", 156);
  header.write("ustar\x0000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}
