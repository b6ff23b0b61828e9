/** What an agent is given to enrol with, as it lies in a Secret. Pure. */
import { createHash, X509Certificate } from "node:crypto";
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { Secret } from "@flotilla/shared/kube/objects/core-resources.ts";
import { z } from "zod";
import { agentIdentityErrors } from "./errors.ts";

export const bootstrapSecretName = "flotilla-bootstrap";

export interface Bootstrap {
  /** `host:port`. */
  readonly address: string;
  /** The authorities that the hub is known by; no other is trusted. PEM. */
  readonly authoritiesPem: string;
  /** Secret. */
  readonly token: string;
  readonly clusterName?: string;
  readonly clientId?: string;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * What tells one order to enrol from another: the token and the authority. An address may change without that, and labels
 * and names are the hub's once the cluster is enrolled.
 */
export function markOf({ token, authoritiesPem }: Bootstrap): string {
  return createHash("sha256").update(`${token}\n${authoritiesPem}`).digest("hex");
}

const labelsSchema = z.record(z.string(), z.string());

/** Throws BOOTSTRAP_INVALID. */
export function parseBootstrap(secret: Secret): Bootstrap {
  const read = (key: string): string =>
    Buffer.from(secret.data?.[key] ?? "", "base64")
      .toString()
      .trim();
  const address = read("address");
  if (!/^\S+:\d{1,5}$/.test(address)) {
    throw invalid(`address is ${JSON.stringify(address)}, expected is host:port`);
  }
  const authoritiesPem = read("ca.crt");
  try {
    new X509Certificate(authoritiesPem);
  } catch (thrown) {
    throw invalid(`ca.crt is not a certificate in PEM: ${messageOf(thrown)}`);
  }
  const token = read("token");
  if (token === "") throw invalid("token is empty");
  const clusterName = read("clusterName");
  const clientId = read("clientID");
  return {
    address,
    authoritiesPem,
    token,
    ...(clusterName !== "" && { clusterName }),
    ...(clientId !== "" && { clientId }),
    labels: parseLabels(read("labels")),
  };
}

function parseLabels(text: string): Readonly<Record<string, string>> {
  if (text === "") return {};
  try {
    return labelsSchema.parse(JSON.parse(text));
  } catch {
    throw invalid('labels is not a JSON object of texts, such as {"env":"prod"}');
  }
}

function invalid(why: string): AppError {
  return new AppError(
    agentIdentityErrors.BOOTSTRAP_INVALID,
    `the Secret ${bootstrapSecretName} cannot be used: ${why}`,
  );
}
