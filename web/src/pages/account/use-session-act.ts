import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import type { SessionCalls } from '../../../../src/dashboard/contract.ts';
import { type ApiError, sessionCall } from '../../api.ts';
import { toast } from '../../parts/toast.tsx';

/** Where the sessions of the one who asks are kept. */
export const OWN_SESSIONS = ['own-sessions'] as const;

/** A call around signing in, as an act. `done` is said when it was done; without `quiet` what fails is said, too. */
export function useSessionAct<Name extends keyof SessionCalls>(
  name: Name,
  {
    done,
    quiet = false,
    onDone,
  }: {
    readonly done?: string;
    readonly quiet?: boolean;
    readonly onDone?: (answer: SessionCalls[Name]['answer']) => void;
  } = {},
): UseMutationResult<SessionCalls[Name]['answer'], ApiError, SessionCalls[Name]['request']> {
  const client = useQueryClient();
  return useMutation<SessionCalls[Name]['answer'], ApiError, SessionCalls[Name]['request']>({
    mutationFn: (request) => sessionCall(name, request),
    onSuccess: (answer) => {
      if (done !== undefined) toast.success(done);
      void client.invalidateQueries({ queryKey: OWN_SESSIONS });
      onDone?.(answer);
    },
    onError: (error) => {
      if (!quiet) toast.error(error.message, error.requestId);
    },
  });
}
