import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { SessionCalls } from '../../../../src/dashboard/contract.ts';
import type { ApiError } from '../../api.ts';
import { useTitle } from '../../parts/page.tsx';
import { LoadingState } from '../../parts/states.tsx';
import { finishReturn } from '../../provider.ts';
import { setSession } from '../../session.tsx';

/** Signs in whoever has come back from the identity provider, and goes on where they wanted to be. */
export function ReturningPage({ onDone }: { readonly onDone: (fault?: Error) => void }) {
  const router = useRouter();
  const { data, error } = useQuery<SessionCalls['provider']['answer'], ApiError>({
    queryKey: ['provider-return'],
    queryFn: finishReturn,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  useTitle('Signing you in');
  useEffect(() => {
    if (data) setSession(data.view);
    // What came back counts once: loading the page again must not try it again.
    if (data || error) router.history.replace(data?.returnTo ?? '/');
    if (data || error) onDone(error ?? undefined);
  }, [data, error, router, onDone]);
  return (
    <div className="p-6">
      <h1 className="text-xl font-semibold tracking-tight">Signing you in</h1>
      <LoadingState lines={3} />
    </div>
  );
}
