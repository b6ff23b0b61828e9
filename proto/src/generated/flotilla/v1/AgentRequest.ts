// Original file: proto/fleet.proto

import type { LogRequest as _flotilla_v1_LogRequest, LogRequest__Output as _flotilla_v1_LogRequest__Output } from '../../flotilla/v1/LogRequest.ts';
import type { DiffRequest as _flotilla_v1_DiffRequest, DiffRequest__Output as _flotilla_v1_DiffRequest__Output } from '../../flotilla/v1/DiffRequest.ts';
import type { HistoryRequest as _flotilla_v1_HistoryRequest, HistoryRequest__Output as _flotilla_v1_HistoryRequest__Output } from '../../flotilla/v1/HistoryRequest.ts';
import type { ResourcesRequest as _flotilla_v1_ResourcesRequest, ResourcesRequest__Output as _flotilla_v1_ResourcesRequest__Output } from '../../flotilla/v1/ResourcesRequest.ts';
import type { EventsRequest as _flotilla_v1_EventsRequest, EventsRequest__Output as _flotilla_v1_EventsRequest__Output } from '../../flotilla/v1/EventsRequest.ts';
import type { ValuesRequest as _flotilla_v1_ValuesRequest, ValuesRequest__Output as _flotilla_v1_ValuesRequest__Output } from '../../flotilla/v1/ValuesRequest.ts';
import type { PlanRequest as _flotilla_v1_PlanRequest, PlanRequest__Output as _flotilla_v1_PlanRequest__Output } from '../../flotilla/v1/PlanRequest.ts';

export interface AgentRequest {
  'id'?: (string);
  'name'?: (string);
  'uid'?: (string);
  'log'?: (_flotilla_v1_LogRequest | null);
  'diff'?: (_flotilla_v1_DiffRequest | null);
  'history'?: (_flotilla_v1_HistoryRequest | null);
  'resources'?: (_flotilla_v1_ResourcesRequest | null);
  'events'?: (_flotilla_v1_EventsRequest | null);
  'values'?: (_flotilla_v1_ValuesRequest | null);
  'plan'?: (_flotilla_v1_PlanRequest | null);
  'body'?: "log"|"diff"|"history"|"resources"|"events"|"values"|"plan";
}

export interface AgentRequest__Output {
  'id': (string);
  'name': (string);
  'uid': (string);
  'log'?: (_flotilla_v1_LogRequest__Output | null);
  'diff'?: (_flotilla_v1_DiffRequest__Output | null);
  'history'?: (_flotilla_v1_HistoryRequest__Output | null);
  'resources'?: (_flotilla_v1_ResourcesRequest__Output | null);
  'events'?: (_flotilla_v1_EventsRequest__Output | null);
  'values'?: (_flotilla_v1_ValuesRequest__Output | null);
  'plan'?: (_flotilla_v1_PlanRequest__Output | null);
  'body'?: "log"|"diff"|"history"|"resources"|"events"|"values"|"plan";
}
