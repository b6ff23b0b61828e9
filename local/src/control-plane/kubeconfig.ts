/** Kubeconfig files: one for each component, one for users with all clusters. */
import { AppError, messageOf } from "@flotilla/shared/errors";
import { parse, stringify } from "yaml";
import * as z from "zod";
import { localErrors } from "../errors.ts";
import { privateMode, replaceFile } from "../files/index.ts";
import type { KeyPair } from "./certificates.ts";

/** The cluster, user and context of one kubeconfig entry. */
export interface KubeconfigEntry {
  /** Name of the context, the cluster and the user. */
  readonly name: string;
  readonly server: string;
  readonly ca: string;
  readonly client: KeyPair;
}

/** A kubeconfig with a context for each entry; the first one is current. */
export function formatKubeconfig(entries: readonly KubeconfigEntry[]): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": entries[0]?.name ?? "",
    clusters: entries.map((entry) => ({
      name: entry.name,
      cluster: { server: entry.server, "certificate-authority-data": base64(entry.ca) },
    })),
    users: entries.map((entry) => ({
      name: entry.name,
      user: {
        "client-certificate-data": base64(entry.client.cert),
        "client-key-data": base64(entry.client.key),
      },
    })),
    contexts: entries.map((entry) => ({
      name: entry.name,
      context: { cluster: entry.name, user: entry.name },
    })),
  });
}

/** Replaces a kubeconfig; only its owner may read it. */
export async function writeKubeconfig(path: string, text: string): Promise<void> {
  await replaceFile(path, text, { mode: privateMode });
}

/** The entry of the current context, of a kubeconfig with embedded certificates as kind writes it. Throws STATE_UNREADABLE. */
export function parseKubeconfig(text: string): KubeconfigEntry {
  const parsed = kubeconfigSchema.safeParse(parse(text));
  if (!parsed.success)
    throw new AppError(
      localErrors.STATE_UNREADABLE,
      `read a kubeconfig: ${messageOf(parsed.error)}`,
    );
  const config = parsed.data;
  const name = config["current-context"];
  const context = config.contexts.find((one) => one.name === name)?.context;
  const cluster = config.clusters.find((one) => one.name === context?.cluster)?.cluster;
  const user = config.users.find((one) => one.name === context?.user)?.user;
  if (cluster === undefined || user === undefined) {
    throw new AppError(
      localErrors.STATE_UNREADABLE,
      `read a kubeconfig: current context "${name}" has no cluster or no user`,
    );
  }
  return {
    name,
    server: cluster.server,
    ca: fromBase64(cluster["certificate-authority-data"]),
    client: {
      cert: fromBase64(user["client-certificate-data"]),
      key: fromBase64(user["client-key-data"]),
    },
  };
}

const kubeconfigSchema = z.object({
  "current-context": z.string(),
  clusters: z.array(
    z.object({
      name: z.string(),
      cluster: z.object({ server: z.string(), "certificate-authority-data": z.string() }),
    }),
  ),
  users: z.array(
    z.object({
      name: z.string(),
      user: z.object({ "client-certificate-data": z.string(), "client-key-data": z.string() }),
    }),
  ),
  contexts: z.array(
    z.object({ name: z.string(), context: z.object({ cluster: z.string(), user: z.string() }) }),
  ),
});

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function fromBase64(text: string): string {
  return Buffer.from(text, "base64").toString("utf8");
}
