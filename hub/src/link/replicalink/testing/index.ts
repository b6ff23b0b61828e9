/** Links between replicas on this machine, with certificates of an authority in memory. */

import type { ServerResponse } from "node:http";
import type { TestContext } from "vitest";
import { createAuthority, openAuthority } from "../../authority/certificate-authority.ts";
import type { ForwardedRequest } from "../forwarded-request.ts";
import { openReplicaLink, type ReplicaLink } from "../replica-link.ts";

export interface TestLink extends Pick<ReplicaLink, "address" | "forward"> {
  answer(answering: (request: ForwardedRequest, response: ServerResponse) => Promise<void>): void;
}

const lifetimeMs = 60_000;

/** A function that opens the link of a replica of one hub, by the name of the replica. */
export async function replicaLinks(
  t: Pick<TestContext, "onTestFinished">,
  hubId: string,
  stored = createAuthority(Date.now()),
): Promise<(replica: string) => Promise<TestLink>> {
  const { certificatePem: trustedPem, ...keys } = await stored;
  const authority = await openAuthority({ certificatePem: trustedPem, ...keys }, () => Date.now());
  return async function openLink(replica) {
    const link = await openReplicaLink({ host: "127.0.0.1", port: 0 });
    t.onTestFinished(() => link.close());
    const current = await authority.issueReplica({ hubId, replica }, lifetimeMs);
    const ignore = () => undefined;
    const certificate = { current, trustedPem, onRenewed: ignore, onTrusted: ignore };
    return {
      address: link.address,
      forward: (...args) => link.forward(...args),
      answer: (answering) => link.serve({ certificate, hubId }, answering),
    };
  };
}
