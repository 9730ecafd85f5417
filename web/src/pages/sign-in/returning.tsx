import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { SessionCalls, SessionView } from '../../../../src/dashboard/contract.ts';
import type { ApiError } from '../../api.ts';
import { useTitle } from '../../parts/page.tsx';
import { LoadingState } from '../../parts/states.tsx';
import { finishReturn } from '../../provider.ts';
import { setSession } from '../../session.tsx';
import { SignInPage } from './page.tsx';

/** Signs in whoever has come back from the identity provider, and goes on where they wanted to be. */
export function ReturningPage({ view, onDone }: { readonly view: SessionView; readonly onDone: () => void }) {
  const router = useRouter();
  const answer = useQuery<SessionCalls['provider']['answer'], ApiError>({
    queryKey: ['provider-return'],
    queryFn: finishReturn,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { data, error } = answer;
  useTitle(error ? 'Sign in' : 'Signing you in');
  useEffect(() => {
    if (!data) return;
    setSession(data.view);
    router.history.replace(data.returnTo);
    onDone();
  }, [data, router, onDone]);
  // What came back counts once: loading the page again must not try it again.
  useEffect(() => {
    if (error) router.history.replace('/');
  }, [error, router]);
  if (error) return <SignInPage view={view} trouble={error} />;
  return (
    <div className="p-6">
      <h1 className="text-xl font-semibold tracking-tight">Signing you in</h1>
      <LoadingState lines={3} />
    </div>
  );
}
