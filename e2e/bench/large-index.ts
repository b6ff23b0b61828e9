/** A chart repository as large as the largest public ones, served from memory with an ETag. */
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { chartArchive } from "../src/harness/chart-archive.ts";

const charts = 500;
const versionsEach = 100;

/** The requests for the index so far. */
export interface IndexCounts {
  /** How often the index was sent. */
  readonly sent: number;
  /** How often the response was 304. */
  readonly unchanged: number;
  /** When the last of them came, on the clock of `performance`. */
  readonly lastAtMs: number;
}

export interface LargeRepository {
  /** A new address of the same index. */
  fresh(): string;
  readonly indexBytes: number;
  /** The name of one of its charts, and its newest version. */
  readonly chart: string;
  readonly newest: string;
  counts(): IndexCounts;
  /** Resolves after that many more responses with 304. */
  untilUnchanged(more: number): Promise<void>;
  close(): Promise<void>;
}

export async function startLargeRepository(): Promise<LargeRepository> {
  const index = Buffer.from(largeIndex());
  const etag = `"${createHash("sha256").update(index).digest("hex")}"`;
  const chart = nameOf(Math.floor(charts / 2));
  const newest = versionOf(versionsEach - 1);
  const { bytes } = await chartArchive({ name: chart, version: newest, templates: {} });
  let repositories = 0;
  let sent = 0;
  let unchanged = 0;
  let lastAtMs = 0;
  let wakeUp = (): void => undefined;

  const server = createServer(({ url = "", headers }, response) => {
    if (!url.endsWith("/index.yaml")) {
      response.end(bytes);
      return;
    }
    lastAtMs = performance.now();
    if (headers["if-none-match"] === etag) {
      unchanged += 1;
      response.writeHead(304, { etag }).end();
      wakeUp();
    } else {
      sent += 1;
      response.writeHead(200, { etag, "content-length": index.length }).end(index);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  return {
    fresh: () => `http://127.0.0.1:${port}/${++repositories}`,
    indexBytes: index.length,
    chart,
    newest,
    counts: () => ({ sent, unchanged, lastAtMs }),
    untilUnchanged(more) {
      const expected = unchanged + more;
      return new Promise((resolve) => {
        wakeUp = () => (unchanged >= expected ? resolve() : undefined);
      });
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** As `helm repo index` writes it: newest first, with about 410 bytes for each version. */
function largeIndex(): string {
  const lines = ["apiVersion: v1", "entries:"];
  for (let chart = 0; chart < charts; chart++) {
    const name = nameOf(chart);
    lines.push(`  ${name}:`);
    for (let version = versionsEach - 1; version >= 0; version--) {
      const text = versionOf(version);
      lines.push(
        "  - apiVersion: v2",
        `    appVersion: ${text}`,
        '    created: "2026-01-02T03:04:05.678901234Z"',
        `    description: ${name} does what it does, with replicas and backups.`,
        `    digest: ${createHash("sha256").update(`${name} ${text}`).digest("hex")}`,
        `    home: https://example.com/${name}`,
        "    maintainers:",
        "    - name: The maintainers",
        `    name: ${name}`,
        "    type: application",
        "    urls:",
        `    - ${name}-${text}.tgz`,
        `    version: ${text}`,
      );
    }
  }
  return `${lines.join("\n")}\ngenerated: "2026-01-02T03:04:05.678901234Z"\n`;
}

function nameOf(chart: number): string {
  return `chart-${String(chart).padStart(3, "0")}`;
}

function versionOf(version: number): string {
  return `1.${Math.floor(version / 10)}.${version % 10}`;
}
