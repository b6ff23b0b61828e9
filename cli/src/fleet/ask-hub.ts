/** Sends a request of a user to the hub, over the API server or directly, and reads the answer. */
import { hubNamespace, requestsAudience, tokenHeader } from "@flotilla/shared/api/names";
import { answerLineSchema } from "@flotilla/shared/dashboard";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { connectKube, type KubeRest, KubeStatusError } from "@flotilla/shared/kube/client";
import * as z from "zod";
import type { CliConfig } from "../config.ts";
import { cliErrors } from "../errors.ts";
import type { HubOptions } from "./choose-hub.ts";
import { connectHub } from "./running-fleet.ts";

export interface AskOptions extends HubOptions {
  /** `NAME`, in `namespace`, or `NAMESPACE/NAME`: whose token the hub gets. */
  readonly serviceAccount: string;
  readonly namespace: string;
  /** The URL of the hub's HTTP port; absent: over the API server, to this Service. */
  readonly hubUrl?: string;
  readonly hubService: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string | undefined>>;
  /** Sent with POST; absent: GET. */
  readonly body?: string;
  /** For how long the answer is waited for, ms; absent: as long as one agent may take. */
  readonly timeoutMs?: number;
}

/** The hub answers within 35 s for one agent. */
const defaultTimeoutMs = 45_000;
/** The shortest that the API server issues. */
const tokenSeconds = 600;

/** Throws REQUEST_REJECTED, which has the hub's sentence, and REQUEST_INCOMPLETE. */
export async function askHub(
  options: AskOptions,
  config: CliConfig,
  print: (text: string) => void,
): Promise<void> {
  const { kubeconfig, fleet } = await connectHub(options, config);
  const kube = connectKube(kubeconfig);
  try {
    const token = await requestToken(kube, options);
    // No API server passes requests on to a pod whose address is one of this machine.
    const url = options.hubUrl ?? fleet?.addresses["dashboard"];
    const path = `${options.path}${queryText(options.query)}`;
    const { timeoutMs = defaultTimeoutMs, body } = options;
    const headers = { [tokenHeader]: token };
    const sent = { headers, timeoutMs, ...(body !== undefined && { body }) };
    if (url === undefined) {
      const service = `services/http:${options.hubService}:http/proxy`;
      const proxied = `/api/v1/namespaces/${hubNamespace}/${service}${path}`;
      return printAnswer(await ask(kube, proxied, sent), print);
    }
    const hub = connectKube({ server: url, credentials: { kind: "none" } });
    try {
      return printAnswer(await ask(hub, path, sent), print);
    } finally {
      await hub.close();
    }
  } finally {
    await kube.close();
  }
}

async function ask(
  rest: KubeRest,
  path: string,
  sent: Parameters<KubeRest["raw"]>[1],
): Promise<string> {
  try {
    return await rest.raw(path, sent);
  } catch (thrown) {
    const message = thrown instanceof KubeStatusError ? thrown.serverMessage : "";
    throw new AppError(
      cliErrors.REQUEST_REJECTED,
      message === "" ? `ask the hub: ${messageOf(thrown)}` : message,
      { cause: thrown },
    );
  }
}

const tokenSchema = z.looseObject({ status: z.looseObject({ token: z.string().min(1) }) });

/** A token of the service account that is valid for the hub alone. */
async function requestToken(
  kube: KubeRest,
  { serviceAccount, namespace: own }: AskOptions,
): Promise<string> {
  const [name = "", namespace = own] = serviceAccount.split("/").toReversed();
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/serviceaccounts/${encodeURIComponent(name)}/token`;
  const body = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: { audiences: [requestsAudience], expirationSeconds: tokenSeconds },
  };
  try {
    const answer = await kube.raw(path, { body: JSON.stringify(body) });
    return tokenSchema.parse(JSON.parse(answer)).status.token;
  } catch (thrown) {
    throw new AppError(
      cliErrors.REQUEST_REJECTED,
      `request a token of ServiceAccount ${namespace}/${name}, which needs create on serviceaccounts/token: ${messageOf(thrown)}`,
      { cause: thrown },
    );
  }
}

function queryText(query: AskOptions["query"]): string {
  const set = Object.entries(query).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const],
  );
  return set.length === 0 ? "" : `?${new URLSearchParams(Object.fromEntries(set)).toString()}`;
}

/** `answer`: lines of JSON (hub/src/console/requests/response.ts). Throws REQUEST_INCOMPLETE, after what there is was printed. */
export function printAnswer(answer: string, print: (text: string) => void): void {
  for (const line of answer.split("\n")) {
    if (line === "") continue;
    const read = answerLineSchema.parse(JSON.parse(line));
    if ("data" in read) print(read.data);
    else if (read.end.message === undefined) return;
    else throw new AppError(cliErrors.REQUEST_INCOMPLETE, read.end.message);
  }
  throw new AppError(
    cliErrors.REQUEST_INCOMPLETE,
    "the answer of the hub ended before it was complete; retry",
  );
}
