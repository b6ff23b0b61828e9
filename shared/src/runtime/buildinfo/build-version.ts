/** The version of this build: hub, agent and command line are released together. */
export const buildVersion = "0.3.0";
