/** The bootstrap Secret, with which an agent enrols. Pure. */

import { createHash, X509Certificate } from "node:crypto";
import { bootstrapSecretName } from "@flotilla/shared/api/names";
import { AppError, messageOf } from "@flotilla/shared/errors";
import type { Secret } from "@flotilla/shared/kube/objects";
import * as z from "zod";
import { agentErrors } from "../../base/errors/index.ts";

export interface Bootstrap {
  /** `host:port`. */
  readonly address: string;
  /** PEM of the authorities that the hub is verified with; no other is trusted. */
  readonly authoritiesPem: string;
  /** Secret. */
  readonly token: string;
  readonly clusterName?: string;
  readonly clientId?: string;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * Identifies a request to enrol, by token and authority. The address may change without a new enrolment, and labels and names
 * belong to the hub once the cluster is enrolled.
 */
export function bootstrapDigest({ token, authoritiesPem }: Bootstrap): string {
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
    throw invalid(`address is ${JSON.stringify(address)}, expected host:port`);
  }
  const authoritiesPem = read("ca.crt");
  try {
    new X509Certificate(authoritiesPem);
  } catch (thrown) {
    throw invalid(`ca.crt is not a PEM certificate: ${messageOf(thrown)}`);
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
    throw invalid('labels is not a JSON object of strings, such as {"env":"prod"}');
  }
}

function invalid(why: string): AppError {
  return new AppError(
    agentErrors.BOOTSTRAP_INVALID,
    `invalid Secret ${bootstrapSecretName}: ${why}`,
  );
}
