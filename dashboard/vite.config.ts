/** The build of the page; `npm run dashboard` serves it while it is changed, with the API of a running hub. */
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const hub = process.env["FLOTILLA_DASHBOARD"] ?? "http://127.0.0.1:8080";

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "build/page",
    // Files, never inlined: the hub's Content-Security-Policy allows nothing else.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/api": { target: hub } } },
});
