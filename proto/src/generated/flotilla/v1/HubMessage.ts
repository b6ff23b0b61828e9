// Original file: proto/fleet.proto

import type { Welcome as _flotilla_v1_Welcome, Welcome__Output as _flotilla_v1_Welcome__Output } from '../../flotilla/v1/Welcome.ts';
import type { Deployment as _flotilla_v1_Deployment, Deployment__Output as _flotilla_v1_Deployment__Output } from '../../flotilla/v1/Deployment.ts';
import type { Withdrawal as _flotilla_v1_Withdrawal, Withdrawal__Output as _flotilla_v1_Withdrawal__Output } from '../../flotilla/v1/Withdrawal.ts';
import type { Synced as _flotilla_v1_Synced, Synced__Output as _flotilla_v1_Synced__Output } from '../../flotilla/v1/Synced.ts';
import type { StateAck as _flotilla_v1_StateAck, StateAck__Output as _flotilla_v1_StateAck__Output } from '../../flotilla/v1/StateAck.ts';
import type { ClusterInfo as _flotilla_v1_ClusterInfo, ClusterInfo__Output as _flotilla_v1_ClusterInfo__Output } from '../../flotilla/v1/ClusterInfo.ts';
import type { ReferencedObject as _flotilla_v1_ReferencedObject, ReferencedObject__Output as _flotilla_v1_ReferencedObject__Output } from '../../flotilla/v1/ReferencedObject.ts';
import type { ReferencedObjectWithdrawal as _flotilla_v1_ReferencedObjectWithdrawal, ReferencedObjectWithdrawal__Output as _flotilla_v1_ReferencedObjectWithdrawal__Output } from '../../flotilla/v1/ReferencedObjectWithdrawal.ts';
import type { Authorities as _flotilla_v1_Authorities, Authorities__Output as _flotilla_v1_Authorities__Output } from '../../flotilla/v1/Authorities.ts';
import type { AgentRequest as _flotilla_v1_AgentRequest, AgentRequest__Output as _flotilla_v1_AgentRequest__Output } from '../../flotilla/v1/AgentRequest.ts';
import type { RequestCancellation as _flotilla_v1_RequestCancellation, RequestCancellation__Output as _flotilla_v1_RequestCancellation__Output } from '../../flotilla/v1/RequestCancellation.ts';

export interface HubMessage {
  'welcome'?: (_flotilla_v1_Welcome | null);
  'deployment'?: (_flotilla_v1_Deployment | null);
  'withdrawal'?: (_flotilla_v1_Withdrawal | null);
  'synced'?: (_flotilla_v1_Synced | null);
  'stateAck'?: (_flotilla_v1_StateAck | null);
  'clusterInfo'?: (_flotilla_v1_ClusterInfo | null);
  'referencedObject'?: (_flotilla_v1_ReferencedObject | null);
  'referencedObjectWithdrawal'?: (_flotilla_v1_ReferencedObjectWithdrawal | null);
  'authorities'?: (_flotilla_v1_Authorities | null);
  'agentRequest'?: (_flotilla_v1_AgentRequest | null);
  'requestCancellation'?: (_flotilla_v1_RequestCancellation | null);
  'body'?: "welcome"|"deployment"|"withdrawal"|"synced"|"stateAck"|"clusterInfo"|"referencedObject"|"referencedObjectWithdrawal"|"authorities"|"agentRequest"|"requestCancellation";
}

export interface HubMessage__Output {
  'welcome'?: (_flotilla_v1_Welcome__Output | null);
  'deployment'?: (_flotilla_v1_Deployment__Output | null);
  'withdrawal'?: (_flotilla_v1_Withdrawal__Output | null);
  'synced'?: (_flotilla_v1_Synced__Output | null);
  'stateAck'?: (_flotilla_v1_StateAck__Output | null);
  'clusterInfo'?: (_flotilla_v1_ClusterInfo__Output | null);
  'referencedObject'?: (_flotilla_v1_ReferencedObject__Output | null);
  'referencedObjectWithdrawal'?: (_flotilla_v1_ReferencedObjectWithdrawal__Output | null);
  'authorities'?: (_flotilla_v1_Authorities__Output | null);
  'agentRequest'?: (_flotilla_v1_AgentRequest__Output | null);
  'requestCancellation'?: (_flotilla_v1_RequestCancellation__Output | null);
  'body'?: "welcome"|"deployment"|"withdrawal"|"synced"|"stateAck"|"clusterInfo"|"referencedObject"|"referencedObjectWithdrawal"|"authorities"|"agentRequest"|"requestCancellation";
}
