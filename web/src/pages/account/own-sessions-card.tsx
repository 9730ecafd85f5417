import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import type { SessionCalls } from '../../../../src/dashboard/contract.ts';
import { type ApiError, sessionCall } from '../../api.ts';
import { plural } from '../../format.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Fetched } from '../../parts/states.tsx';
import { toast } from '../../parts/toast.tsx';
import { type SessionRow, SessionsTable } from './sessions-table.tsx';
import { OWN_SESSIONS, useSessionAct } from './use-session-act.ts';

/** Where one is signed in, and how to end that. */
export function OwnSessionsCard() {
  const sessions = useQuery<SessionCalls['sessions']['answer'], ApiError>({
    queryKey: OWN_SESSIONS,
    queryFn: () => sessionCall('sessions', {}),
    meta: { topics: ['users'] },
  });
  const end = useSessionAct('end_session', { done: 'The session has ended' });
  const endOthers = useSessionAct('sign_out_others', {
    onDone: ({ ended }) =>
      toast.success(ended === 0 ? 'You were signed in nowhere else' : `${plural(ended, 'session')} ended`),
  });
  const { mutate } = end;
  const onEnd = useCallback(({ id }: SessionRow) => mutate({ id }), [mutate]);
  return (
    <Card
      title="Where you are signed in"
      flush
      actions={
        <Button
          small
          busy={endOthers.isPending}
          disabled={(sessions.data?.length ?? 0) < 2}
          onClick={() => endOthers.mutate({})}
        >
          Sign out everywhere else
        </Button>
      }
    >
      <Fetched query={sessions} lines={3}>
        {(rows) => <SessionsTable sessions={rows} onEnd={onEnd} />}
      </Fetched>
    </Card>
  );
}
