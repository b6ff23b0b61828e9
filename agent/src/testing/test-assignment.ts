/** Assignments for tests. */
import { type DeploymentContent, packContent } from "@flotilla/shared/content";
import { plainContent } from "@flotilla/shared/content/testing";
import type { Assignment } from "../state/assignment/assignment-secret.ts";
import type { ReleaseAssignment } from "../state/assignment/release-assignments.ts";

/** `content`: differs from the plain one; `fields`: of the assignment. */
export async function testAssignment(
  name: string,
  content: Partial<DeploymentContent> = {},
  fields: Partial<Assignment> = {},
): Promise<Assignment> {
  const { deploymentId, bytes } = await packContent({ ...plainContent, ...content });
  const owner = { name, uid: `uid-${name}` };
  return { owner, deploymentId, content: bytes, paused: false, withdrawing: false, ...fields };
}

/** The only release of a deployment. */
export async function testRelease(
  ...args: Parameters<typeof testAssignment>
): Promise<ReleaseAssignment> {
  const assignment = await testAssignment(...args);
  const { name, uid } = assignment.owner;
  return { ...assignment, owner: { id: name, name, uid } };
}
