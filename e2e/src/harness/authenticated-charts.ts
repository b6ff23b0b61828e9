/** An HTTP chart repository with basic authentication, whose password can be changed. */
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

export interface AuthenticatedCharts extends TestServer {
  publish(archive: ChartArchive): void;
  /** Rejects all other logins. */
  allowOnly(login: Login): void;
  /** The paths of the requests with a login, in order. */
  requestsBy(login: Login): readonly string[];
}

export async function startAuthenticatedCharts(
  first: Login,
  certificate?: TestCertificate,
): Promise<AuthenticatedCharts> {
  const archives = new Map<string, ChartArchive>();
  let allowed = authorizationOf(first);

  const server = await startTestServer(
    ({ path, headers }, response) => {
      const archive = archives.get(path.slice(1));
      if (headers.authorization !== allowed)
        send(response, 401, "unauthorized", { "www-authenticate": "Basic" });
      else if (path === "/index.yaml") send(response, 200, indexOf([...archives.values()]));
      else if (archive === undefined) send(response, 404);
      else send(response, 200, archive.bytes);
    },
    certificate === undefined ? {} : { certificate },
  );
  return {
    ...server,
    publish: (archive) => void archives.set(`${archive.name}-${archive.version}.tgz`, archive),
    allowOnly(login) {
      allowed = authorizationOf(login);
    },
    requestsBy: (login) =>
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
