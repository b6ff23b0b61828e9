/** An HTTP chart repository of one chart that asks for a password, which can be changed. */
import {
  send,
  startTestServer,
  type TestCertificate,
  type TestServer,
} from "@flotilla/shared/source/testing";
import type { ChartArchive } from "./chart-archive.ts";

export interface Login {
  readonly username: string;
  readonly password: string;
}

export interface GuardedCharts extends TestServer {
  publish(archive: ChartArchive): void;
  /** From now on only this one is let in. */
  letIn(login: Login): void;
  /** The paths that were asked for with a login, in order. */
  askedBy(login: Login): readonly string[];
}

export async function startGuardedCharts(
  first: Login,
  certificate?: TestCertificate,
): Promise<GuardedCharts> {
  const archives = new Map<string, ChartArchive>();
  let allowed = authorizationOf(first);

  const server = await startTestServer(
    ({ path, headers }, response) => {
      const archive = archives.get(path.slice(1));
      if (headers.authorization !== allowed)
        send(response, 401, "who are you?", { "www-authenticate": "Basic" });
      else if (path === "/index.yaml") send(response, 200, indexOf([...archives.values()]));
      else if (archive === undefined) send(response, 404);
      else send(response, 200, archive.bytes);
    },
    certificate === undefined ? {} : { certificate },
  );
  return {
    ...server,
    publish: (archive) => void archives.set(`${archive.name}-${archive.version}.tgz`, archive),
    letIn(login) {
      allowed = authorizationOf(login);
    },
    askedBy: (login) =>
      server.seen
        .filter(({ headers }) => headers.authorization === authorizationOf(login))
        .map(({ path }) => path),
  };
}

function authorizationOf({ username, password }: Login): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

function indexOf(archives: readonly ChartArchive[]): string {
  const entries = Object.groupBy(
    archives.map(({ name, version, digest }) => ({
      name,
      version,
      digest,
      urls: [`${name}-${version}.tgz`],
    })),
    ({ name }) => name,
  );
  return JSON.stringify({ apiVersion: "v1", entries });
}
