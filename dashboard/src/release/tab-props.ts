/** What all tabs of a release have. */
export interface TabProps {
  /** The path of the release in the API. */
  readonly path: string;
  /** As in AgentTabs. */
  readonly change: string;
}
