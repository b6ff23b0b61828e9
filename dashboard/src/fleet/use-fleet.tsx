/** The fleet for all components: read once, then kept up to date by the stream of changes. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import { followChanges, get } from "../api/index.ts";
import { sessionEnded } from "../session/index.ts";
import { ClockProvider, clockOffsetMs } from "../time/index.ts";
import { type FleetState, fleetState, withChanges } from "./fleet-state.ts";
import { inNamespace } from "./in-namespace.ts";

export type Connection =
  | { readonly kind: "live" }
  /** What is shown is of `sinceMs`. */
  | { readonly kind: "lost"; readonly sinceMs: number };

interface Followed {
  readonly fleet: FleetState;
  readonly connection: Connection;
}

const fleetKey = ["fleet"] as const;
const FleetContext = createContext<Followed | undefined>(undefined);

export function FleetProvider({ children }: { readonly children: ReactNode }) {
  const client = useQueryClient();
  const [connection, setConnection] = useState<Connection>({ kind: "live" });
  const {
    data: fleet,
    error,
    failureReason,
  } = useQuery({
    queryKey: fleetKey,
    queryFn: async ({ signal }) => {
      const answer = await get<"fleet">("/api/v1/fleet", signal);
      return fleetState(answer, clockOffsetMs(answer.now, Date.now()));
    },
    // Maps of maps: comparing them costs more than drawing them.
    structuralSharing: false,
  });
  /** Changes with each read of the whole fleet, not with the changes that follow. */
  const [reads, setReads] = useState(0);
  const isRead = fleet !== undefined;

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new stream for each read of the fleet, and not for each change
  useEffect(() => {
    const start = client.getQueryData<FleetState>(fleetKey);
    if (start === undefined) return;
    return followChanges(start.position, {
      onChanges(changes, position) {
        client.setQueryData<FleetState>(fleetKey, (before) =>
          before === undefined ? before : withChanges(before, changes, position),
        );
      },
      onReset() {
        void client.refetchQueries({ queryKey: fleetKey }).then(() => setReads((n) => n + 1));
      },
      onConnected() {
        setConnection({ kind: "live" });
        // What could not be read meanwhile.
        void client.invalidateQueries({ predicate: ({ state }) => state.status === "error" });
      },
      onDisconnected: (sinceMs) =>
        setConnection((before) => (before.kind === "lost" ? before : { kind: "lost", sinceMs })),
      onUnauthorized: () => sessionEnded(client),
    });
  }, [client, isRead, reads]);

  if (fleet === undefined)
    return (
      <div className="fleet-loading" aria-busy={failureReason === null}>
        {failureReason !== null && (
          <p role="alert">
            {failureReason.message} {error === null && "Retrying …"}
          </p>
        )}
      </div>
    );
  return (
    <ClockProvider offsetMs={fleet.clockOffsetMs}>
      <FleetContext value={{ fleet, connection }}>{children}</FleetContext>
    </ClockProvider>
  );
}

/** To the components inside it, the fleet is what is in one namespace of it; "": all. */
export function FleetOfNamespace({
  namespace,
  children,
}: {
  readonly namespace: string;
  readonly children: ReactNode;
}) {
  const { fleet, connection } = useFollowed();
  const followed = useMemo(
    () => ({ fleet: inNamespace(fleet, namespace), connection }),
    [fleet, namespace, connection],
  );
  return <FleetContext value={followed}>{children}</FleetContext>;
}

/** For components inside FleetProvider. */
export function useFleet(): FleetState {
  return useFollowed().fleet;
}

export function useConnection(): Connection {
  return useFollowed().connection;
}

function useFollowed(): Followed {
  const followed = useContext(FleetContext);
  if (followed === undefined) throw new Error("there is no fleet here");
  return followed;
}
