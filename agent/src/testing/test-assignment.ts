/** An assignment as the agent holds it, for tests of what looks at all of them. */
import { type DeploymentContent, packContent } from "@flotilla/shared/content/content.ts";
import { plainContent } from "@flotilla/shared/content/testing/plain-content.ts";
import type { Assignment } from "../assignment/assignment-secret.ts";

/** That of the BundleDeployment `name`; `wanted` is what its content says besides a plain one. */
export async function testAssignment(
  name: string,
  wanted: Partial<DeploymentContent> = {},
  held: Partial<Assignment> = {},
): Promise<Assignment> {
  const { deploymentId, bytes } = await packContent({ ...plainContent, ...wanted });
  const owner = { name, uid: `uid-${name}` };
  return { owner, deploymentId, content: bytes, paused: false, withdrawing: false, ...held };
}
