/** How fast this machine is, for figures without a baseline of the same run. */
import { createHash } from "node:crypto";

const rounds = 5;
const documents = 20_000;

/** Processor time in ms of a fixed piece of work, as a hub has it: it reads, writes and hashes JSON. The fastest of some rounds. */
export function fixedWorkMs(): number {
  const document = JSON.stringify({
    metadata: { name: "web", namespace: "fleet-default", labels: { env: "prod", region: "eu" } },
    spec: Array.from({ length: 20 }, (_, index) => ({ name: `part-${index}`, replicas: index })),
  });
  const times = Array.from({ length: rounds }, () => {
    const before = process.cpuUsage();
    const hash = createHash("sha256");
    for (let index = 0; index < documents; index += 1)
      hash.update(JSON.stringify(JSON.parse(document)));
    hash.digest();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}
