/** The hub: serves agents, runs the controllers while it leads, and serves health, metrics and webhooks. */
import { createLog } from "@flotilla/shared/log";
import { parseListenAddress, runProgram, startHealthServer } from "@flotilla/shared/program";
import { hubUsage, parseHubConfig } from "./config.ts";
import { createParts } from "./parts.ts";
import { serve } from "./serve.ts";

/**
 * Node copies three bytes for each TLS connection into a slab that small Buffers share, and each of them keeps its slab for
 * as long as the connection lives: with Node's default of 64 KiB that was 20 KB for each agent.
 */
Buffer.poolSize = 1_024;

await runProgram("flotilla-hub", hubUsage, async (signal) => {
  const config = parseHubConfig(process.argv.slice(2), process.env);
  const log = createLog({ name: "hub", level: config.logLevel });
  const parts = await createParts(config, process.env, log);
  const { fleet } = parts;
  let why: string | undefined = "the hub is starting";
  const notReady = () => fleet.blocked() ?? why;
  const health = await startHealthServer({
    listen: config.internalListen,
    metrics: parts.metrics,
    moreMetrics: parts.series.text,
    notReady,
  });
  log.info({ health: health.address }, "health and metrics are served");
  parts.ownPorts.push(parseListenAddress(health.address, "a port of the hub").port);
  const ending = new AbortController();
  const watching = fleet.run(ending.signal);
  try {
    await fleet.opened(signal);
    if (signal.aborted) return;
    const end = AbortSignal.any([signal, fleet.closed]);
    await serve({ config, parts, notReady, setNotReady: (next) => (why = next) }, end).finally(
      // The next process waits for the end of Fleet: the caches of this one would be stale by then.
      () => fleet.closed.throwIfAborted(),
    );
  } finally {
    await parts.flush();
    ending.abort();
    await Promise.allSettled([watching]);
    await Promise.all([health.close(), parts.close()]);
  }
});
