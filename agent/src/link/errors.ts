/** What can go wrong between an agent and its hub. */
import { AppError, defineErrors } from "@flotilla/shared/errors/app-error.ts";

export const linkErrors = defineErrors({
  HUB_CALL_FAILED: {
    retryable: true,
    help: "The hub did not answer, or answered with a refusal, whose words the message has. It is tried again by itself.",
  },
  WRONG_HUB: {
    retryable: true,
    help: "The address leads to another hub than the one that the agent belongs to. Nothing was touched. Correct the address; to enrol with the other hub, put the content of the Secret of one of its ClusterRegistrationTokens into the Secret flotilla-agent/flotilla-bootstrap of the cluster.",
  },
  KEY_REVOKED: {
    retryable: true,
    help: "The cluster was revoked on the hub, and the key that the agent has with it. With the token that it was given the agent enrols again with a new key, which it makes by itself.",
  },
  HUB_PROTOCOL: {
    retryable: true,
    help: "The hub sent something that the contract between hub and agent does not allow. Check that the versions of hub and agent fit together.",
  },
});

export function wrongHub(found: string, own: string): AppError {
  return new AppError(
    linkErrors.WRONG_HUB,
    `the address leads to hub ${found}, this agent belongs to hub ${own}; nothing was touched`,
  );
}
