// Original file: proto/fleet.proto

import type { LogRequest as _flotilla_v1_LogRequest, LogRequest__Output as _flotilla_v1_LogRequest__Output } from '../../flotilla/v1/LogRequest.ts';
import type { DiffRequest as _flotilla_v1_DiffRequest, DiffRequest__Output as _flotilla_v1_DiffRequest__Output } from '../../flotilla/v1/DiffRequest.ts';
import type { HistoryRequest as _flotilla_v1_HistoryRequest, HistoryRequest__Output as _flotilla_v1_HistoryRequest__Output } from '../../flotilla/v1/HistoryRequest.ts';

export interface AgentRequest {
  'id'?: (string);
  'name'?: (string);
  'uid'?: (string);
  'log'?: (_flotilla_v1_LogRequest | null);
  'diff'?: (_flotilla_v1_DiffRequest | null);
  'history'?: (_flotilla_v1_HistoryRequest | null);
  'body'?: "log"|"diff"|"history";
}

export interface AgentRequest__Output {
  'id': (string);
  'name': (string);
  'uid': (string);
  'log'?: (_flotilla_v1_LogRequest__Output | null);
  'diff'?: (_flotilla_v1_DiffRequest__Output | null);
  'history'?: (_flotilla_v1_HistoryRequest__Output | null);
  'body'?: "log"|"diff"|"history";
}
