export { createDashboard, type Dashboard } from "./dashboard.ts";
export { type AsUser, createAsUser } from "./user-client.ts";
