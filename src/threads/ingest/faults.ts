import { Problem } from '../../http/problem.ts';
import { ListenError } from '../../lib/listen.ts';
import { SpoolError } from '../../spool/spool.ts';
import { StoreError } from '../../store/store.ts';

/** An error as it travels between threads: classes do not survive the way. */
export type WireFault =
  | { readonly kind: 'store'; readonly code: StoreError['code']; readonly message: string }
  | { readonly kind: 'spool'; readonly code: SpoolError['code']; readonly message: string }
  | {
      readonly kind: 'problem';
      readonly problem: Pick<Problem, 'status' | 'code' | 'detail' | 'errors' | 'headers'>;
    }
  | {
      readonly kind: 'listen';
      readonly code: ListenError['code'];
      readonly host: string;
      readonly port: number;
    }
  | { readonly kind: 'bug'; readonly message: string };

/** Packs an error. One that nobody expects keeps its stack, for the log. */
export function packFault(error: unknown): WireFault {
  if (error instanceof StoreError) return { kind: 'store', code: error.code, message: error.message };
  if (error instanceof SpoolError) return { kind: 'spool', code: error.code, message: error.message };
  if (error instanceof ListenError) {
    const { code, host, port } = error;
    return { kind: 'listen', code, host, port };
  }
  if (error instanceof Problem) {
    const { status, code, detail, errors, headers } = error;
    return { kind: 'problem', problem: { status, code, detail, errors, headers } };
  }
  return { kind: 'bug', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

/** Makes the error whole again. */
export function unpackFault(fault: WireFault): Error {
  switch (fault.kind) {
    case 'store':
      return new StoreError(fault.code, fault.message);
    case 'spool':
      return new SpoolError(fault.code, fault.message);
    case 'listen':
      return new ListenError(fault.code, fault.host, fault.port);
    case 'problem': {
      const { status, code, detail, errors, headers } = fault.problem;
      return new Problem(status, code, detail, { errors, headers });
    }
    case 'bug':
      return new Error(fault.message);
  }
}
