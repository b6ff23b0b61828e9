/** Whether the page shows the fleet as it is now. */
import { useConnection } from "../fleet/index.ts";

export function LiveIndicator() {
  const connection = useConnection();
  const isLive = connection.kind === "live";
  return (
    <span className={`live ${isLive ? "tone-good" : "tone-warn"}`} role="status">
      <span className="live-dot" aria-hidden="true" />
      {isLive
        ? "Live"
        : `Reconnecting; data as of ${new Date(connection.sinceMs).toLocaleTimeString()}`}
    </span>
  );
}
