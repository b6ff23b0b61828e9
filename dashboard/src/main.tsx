/** The page: a session, then the fleet. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError, isTransient } from "./api/index.ts";
import { SessionGate } from "./session/index.ts";
import { App, applyTheme, readTheme } from "./shell/index.ts";

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // The stream of changes says when something is to be read again.
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      // The hub may be on this machine, which may be offline otherwise.
      networkMode: "always",
      retry: (failures, error) =>
        isTransient(error) || (failures < 5 && error instanceof ApiError && error.status >= 500),
      retryDelay: (attempt) => Math.min(5_000, 500 * 2 ** attempt),
    },
  },
});

applyTheme(readTheme());
const root = document.getElementById("root");
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <SessionGate>
          <App />
        </SessionGate>
      </QueryClientProvider>
    </StrictMode>,
  );
