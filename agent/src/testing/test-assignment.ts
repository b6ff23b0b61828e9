/** Assignments for tests. */
import { type DeploymentContent, packContent } from "@flotilla/shared/content/content.ts";
import { plainContent } from "@flotilla/shared/content/testing/plain-content.ts";
import type { Assignment } from "../assignment/assignment-secret.ts";

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
