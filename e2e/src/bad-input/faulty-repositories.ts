/** Chart repositories that are wrong in one way each, every one below a path of one HTTP server in this process. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ChartArchive } from "../harness/chart-archive.ts";

export interface OddRepositories {
  /** The address of the repository that is wrong in this way. */
  at(way: string): string;
  /** From now on, the index that is there. */
  setIndex(way: string, text: string): void;
  readonly requests: readonly string[];
  close(): Promise<void>;
}

/** What is said for a path; a status alone has no body. */
type Answer = number | string;

/** `good`: the archive that the indexes name. */
export async function startOddRepositories(good: ChartArchive): Promise<OddRepositories> {
  const file = `${good.name}-${good.version}.tgz`;
  const right = indexText(good, { digest: good.digest });
  const answers = new Map<string, Answer>([
    ["unauthorized", 401],
    ["missing", 404],
    ["broken", 500],
    ["garbage", "\u0000\u0001 {[not: yaml"],
    ["page", "<!DOCTYPE html><html><title>Log in</title></html>"],
    ["list", "- a\n- b\n"],
    // In the middle of a field's name, and of an address.
    ["cut", right.slice(0, right.indexOf("version:") + 4)],
    ["cut-address", right.slice(0, right.indexOf("urls:") + 2)],
    ["no-digest", indexText(good, {})],
    ["half-a-digest", indexText(good, { digest: good.digest.slice(0, 20) })],
    ["other-bytes", indexText(good, { digest: "0".repeat(64) })],
    ["no-archive", indexText(good, { digest: "1".repeat(64), url: "elsewhere.tgz" })],
  ]);
  const requests: string[] = [];

  const server = createServer((request, response) => {
    const [, way = "", path = ""] = /^\/([^/?]+)\/([^?]*)/.exec(request.url ?? "") ?? [];
    requests.push(`${way} ${path}`);
    const answer = path === "index.yaml" ? answers.get(way) : undefined;
    if (path === file) response.writeHead(200).end(good.bytes);
    else if (typeof answer === "string") response.writeHead(200).end(answer);
    else if (answer === 401)
      response.writeHead(401, { "www-authenticate": 'Basic realm="charts"' }).end("who are you?\n");
    else response.writeHead(answer ?? 404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  return {
    at: (way) => `http://127.0.0.1:${port}/${way}`,
    setIndex: (way, text) => void answers.set(way, text),
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function indexText(
  { name, version }: ChartArchive,
  { digest, url = `${name}-${version}.tgz` }: { readonly digest?: string; readonly url?: string },
): string {
  return [
    "apiVersion: v1",
    "entries:",
    `  ${name}:`,
    `  - name: ${name}`,
    `    version: "${version}"`,
    ...(digest === undefined ? [] : [`    digest: ${digest}`]),
    `    urls: ["${url}"]`,
    "",
  ].join("\n");
}
