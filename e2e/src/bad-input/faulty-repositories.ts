/** Chart repositories with one fault each, below paths of one HTTP server in this process. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ChartArchive } from "../harness/chart-archive.ts";

export interface FaultyRepositories {
  /** The address of the repository with this fault. */
  at(fault: string): string;
  /** Replaces the index of the repository with this fault. */
  setIndex(fault: string, text: string): void;
  readonly requests: readonly string[];
  close(): Promise<void>;
}

/** A body with status 200, or a status without a body. */
type Answer = number | string;

/** `good`: the archive that the indexes name. */
export async function startFaultyRepositories(good: ChartArchive): Promise<FaultyRepositories> {
  const file = `${good.name}-${good.version}.tgz`;
  const correct = indexText(good, { digest: good.digest });
  const answers = new Map<string, Answer>([
    ["unauthorized", 401],
    ["missing", 404],
    ["broken", 500],
    ["garbage", "\u0000\u0001 {[not: yaml"],
    ["page", "<!DOCTYPE html><html><title>Log in</title></html>"],
    ["list", "- a\n- b\n"],
    // In the middle of the names of two fields.
    ["truncated", correct.slice(0, correct.indexOf("version:") + 4)],
    ["truncated-urls", correct.slice(0, correct.indexOf("urls:") + 2)],
    ["no-digest", indexText(good, {})],
    ["half-a-digest", indexText(good, { digest: good.digest.slice(0, 20) })],
    ["other-bytes", indexText(good, { digest: "0".repeat(64) })],
    ["no-archive", indexText(good, { digest: "1".repeat(64), url: "elsewhere.tgz" })],
  ]);
  const requests: string[] = [];

  const server = createServer((request, response) => {
    const [, fault = "", path = ""] = /^\/([^/?]+)\/([^?]*)/.exec(request.url ?? "") ?? [];
    requests.push(`${fault} ${path}`);
    const answer = path === "index.yaml" ? answers.get(fault) : undefined;
    if (path === file) response.writeHead(200).end(good.bytes);
    else if (typeof answer === "string") response.writeHead(200).end(answer);
    else if (answer === 401)
      response.writeHead(401, { "www-authenticate": 'Basic realm="charts"' }).end("who are you?\n");
    else response.writeHead(answer ?? 404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  return {
    at: (fault) => `http://127.0.0.1:${port}/${fault}`,
    setIndex: (fault, text) => void answers.set(fault, text),
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
