/** The codes of an agent's own failures by which a hub decides. Others it only shows. */
export const agentErrorCodes = {
  chartUnreadable: "CHART_UNREADABLE",
  valuesSourceMissing: "VALUES_SOURCE_MISSING",
  valuesSourceInvalid: "VALUES_SOURCE_INVALID",
  valuesTemplateFailed: "VALUES_TEMPLATE_FAILED",
} as const;
