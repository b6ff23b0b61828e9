/** The part of a kubelet that `kubectl logs` needs: the API server forwards the request for a log to it. */
import { createReadStream } from "node:fs";
import { open, readFile, watch } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { ensureServerCertificate } from "../control-plane/index.ts";

export interface LogsServer {
  readonly port: number;
  close(): void;
}

export interface LogsOptions {
  /** Where its certificate is kept. */
  readonly dir: string;
  /** The authority of the cluster: only its API server may ask. */
  readonly ca: string;
  /** The log file of a pod; undefined if it does not run here. */
  readonly fileOf: (namespace: string, name: string) => string | undefined;
}

export async function startLogsServer(options: LogsOptions): Promise<LogsServer> {
  const { certFile, keyFile } = await ensureServerCertificate(options.dir, "pods");
  const server: Server = createServer(
    {
      cert: await readFile(certFile),
      key: await readFile(keyFile),
      ca: options.ca,
      requestCert: true,
      rejectUnauthorized: true,
    },
    (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "", "https://node");
      const [, kind, namespace = "", name = ""] = pathname.split("/");
      const file = kind === "containerLogs" ? options.fileOf(namespace, name) : undefined;
      if (file === undefined) {
        response.writeHead(404).end(`pod ${namespace}/${name} does not run on this node\n`);
        return;
      }
      const tail = searchParams.get("tailLines");
      send(response, file, {
        follow: searchParams.get("follow") === "true",
        ...(tail !== null && { tailLines: Number(tail) }),
      }).catch((thrown: unknown) => response.destroy(thrown instanceof Error ? thrown : undefined));
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Sending {
  readonly follow: boolean;
  readonly tailLines?: number;
}

async function send(
  response: ServerResponse,
  file: string,
  { follow, tailLines }: Sending,
): Promise<void> {
  response.writeHead(200, { "content-type": "text/plain" });
  const text = await readFile(file);
  const lines = text.toString().split("\n");
  response.write(tailLines === undefined ? text : lines.slice(-1 - tailLines).join("\n"));
  if (!follow) {
    response.end();
    return;
  }
  const closed = new AbortController();
  response.once("close", () => closed.abort());
  let at = text.length;
  const handle = await open(file);
  try {
    for await (const _ of watch(file, { signal: closed.signal })) {
      const { size } = await handle.stat();
      if (size <= at) continue;
      for await (const piece of createReadStream(file, { start: at, end: size - 1 }))
        response.write(piece);
      at = size;
    }
  } catch (thrown) {
    if (!closed.signal.aborted) throw thrown;
  } finally {
    await handle.close();
  }
}
