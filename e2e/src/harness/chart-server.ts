/** An HTTP chart repository in this process, which can be made to fail. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ChartArchive } from "./chart-archive.ts";

export interface ChartServer {
  /** The repository's address. */
  readonly url: string;
  publish(...archives: readonly ChartArchive[]): void;
  /** Answers every request with this status until `recover`. */
  failWith(status: number): void;
  recover(): void;
  /** `METHOD path` of every request so far. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

export async function startChartServer(): Promise<ChartServer> {
  const archives = new Map<string, ChartArchive>();
  const requests: string[] = [];
  let failure: number | undefined;
  let edition = 0;

  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    if (failure !== undefined) {
      response.writeHead(failure).end("failing on purpose\n");
      return;
    }
    const path = request.url ?? "/";
    const etag = `"${edition}"`;
    if (path === "/index.yaml") {
      if (request.headers["if-none-match"] === etag) response.writeHead(304, { etag }).end();
      else
        response
          .writeHead(200, { etag, "content-type": "application/yaml" })
          .end(indexOf(archives.values()));
      return;
    }
    const archive = archives.get(path.slice(1));
    if (archive === undefined) response.writeHead(404).end();
    else response.writeHead(200, { "content-type": "application/gzip" }).end(archive.bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    publish(...added) {
      for (const archive of added) archives.set(fileName(archive), archive);
      edition += 1;
    },
    failWith(status) {
      failure = status;
    },
    recover() {
      failure = undefined;
    },
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function fileName({ name, version }: ChartArchive): string {
  return `${name}-${version}.tgz`;
}

function indexOf(archives: Iterable<ChartArchive>): string {
  const entries = new Map<string, string[]>();
  for (const archive of archives) {
    const lines = entries.get(archive.name) ?? [];
    entries.set(archive.name, lines);
    lines.push(
      `  - name: ${archive.name}`,
      `    version: "${archive.version}"`,
      `    digest: ${archive.digest}`,
      `    urls: ["${fileName(archive)}"]`,
    );
  }
  const body = [...entries].flatMap(([name, lines]) => [`  ${name}:`, ...lines]);
  return `${["apiVersion: v1", body.length === 0 ? "entries: {}" : "entries:", ...body].join("\n")}\n`;
}
