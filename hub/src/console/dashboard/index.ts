export { createDashboard, type Dashboard } from "./dashboard.ts";
export { createAsUser } from "./user-client.ts";
