import { useQuery } from '@tanstack/react-query';
import { lazyRouteComponent, useRouter, useRouterState } from '@tanstack/react-router';
import { type ReactNode, Suspense, useCallback, useEffect, useState } from 'react';
import type { SessionCalls } from '../../src/dashboard/contract.ts';
import type { ApiError } from './api.ts';
import { steadily } from './connection.ts';
import { startLive } from './live.ts';
import { AppShell } from './parts/app-shell.tsx';
import { Wordmark } from './parts/logo.tsx';
import { useTitle } from './parts/page.tsx';
import { Fetched, LoadingState } from './parts/states.tsx';
import { finishReturn, hasReturned } from './provider.ts';
import { SessionContext, setSession, useSessionView } from './session.tsx';

// As all pages: when their code could not be fetched, because the network changed meanwhile, everything is loaded anew, once.
const SignInPage = lazyRouteComponent(
  steadily(() => import('./pages/sign-in/page.tsx')),
  'SignInPage',
);
const SetUpPage = lazyRouteComponent(
  steadily(() => import('./pages/set-up/page.tsx')),
  'SetUpPage',
);

const StoryPage = lazyRouteComponent(
  steadily(() => import('./pages/story/page.tsx')),
  'StoryPage',
);

/**
 * Shows pages to those who are signed in, and to others what they can sign in with, at the same address: when they
 * have, they are where they wanted to be. Who comes back from an identity provider is signed in first. A link to choose
 * a password (`/setup#token`) comes before all pages, and so does one to the story of a message (`/story#token`).
 */
export function Gate({ children }: { readonly children: ReactNode }) {
  const view = useSessionView();
  const token = useRouterState({ select: ({ location }) => tokenAt('/setup', location) });
  const story = useRouterState({ select: ({ location }) => tokenAt('/story', location) });
  const [isReturning, setReturning] = useState(hasReturned);
  const [trouble, setTrouble] = useState<Error>();
  const onDone = useCallback((fault?: Error) => {
    setTrouble(fault);
    setReturning(false);
  }, []);
  const isSignedIn = view.data?.state === 'signed_in';
  useEffect(() => {
    if (!isSignedIn) return;
    setTrouble(undefined);
    return startLive();
  }, [isSignedIn]);
  if (story !== null)
    return (
      <Suspense fallback={<LoadingState lines={9} />}>
        <StoryPage token={story} />
      </Suspense>
    );
  if (!view.data)
    return (
      <Outside>
        <Fetched query={view} lines={3} />
      </Outside>
    );
  if (isReturning)
    return (
      <Outside>
        <Returning onDone={onDone} />
      </Outside>
    );
  if (view.data.state === 'signed_in' && token === null)
    return (
      <SessionContext value={view.data}>
        <AppShell>{children}</AppShell>
      </SessionContext>
    );
  return (
    <Outside>
      <Suspense fallback={<LoadingState lines={3} />}>
        {view.data.state === 'setup' || token !== null ? (
          <SetUpPage view={view.data} token={token} />
        ) : (
          <SignInPage view={view.data} trouble={trouble} />
        )}
      </Suspense>
    </Outside>
  );
}

/** Signs in whoever has come back from the identity provider, and goes on where they wanted to be. */
function Returning({ onDone }: { readonly onDone: (fault?: Error) => void }) {
  const router = useRouter();
  const { data, error } = useQuery<SessionCalls['provider']['answer'], ApiError>({
    queryKey: ['provider-return'],
    queryFn: finishReturn,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  useTitle('Signing you in');
  useEffect(() => {
    if (!data && !error) return;
    if (data) setSession(data.view);
    // What came back counts once: loading the page again must not try it again.
    router.history.replace(data?.returnTo ?? '/');
    onDone(error ?? undefined);
  }, [data, error, router, onDone]);
  return (
    <div className="p-6">
      <h1 className="text-xl font-semibold tracking-tight">Signing you in</h1>
      <LoadingState lines={3} />
    </div>
  );
}

/** What stands behind the `#` of a link to this path; null at every other address. */
function tokenAt(
  path: string,
  { pathname, hash }: { readonly pathname: string; readonly hash: string },
): string | null {
  return pathname === path && hash !== '' ? hash : null;
}

/** What is around the pages for those who are not signed in. */
function Outside({ children }: { readonly children: ReactNode }) {
  return (
    <main className="flex min-h-dvh flex-col items-center px-4 py-10 sm:justify-center">
      <div className="mb-6">
        <Wordmark />
      </div>
      <div className="w-full max-w-sm overflow-hidden rounded-lg border border-line bg-surface">
        {children}
      </div>
    </main>
  );
}
