import { useTitle } from '../title.ts';
import { Button, ButtonLink } from './button.tsx';

/** There is no such page. */
export function NotFoundPage() {
  useTitle('Not found');
  return (
    <div className="mx-auto max-w-md px-6 py-24 text-center">
      <div className="font-mono text-sm text-soft">404</div>
      <h1 className="mt-1 text-xl font-semibold">There is nothing at this address</h1>
      <p className="mt-1 text-soft">It may have been removed, or the address is not whole.</p>
      <ButtonLink to="/" className="mt-5">
        To the overview
      </ButtonLink>
    </div>
  );
}

/** A page broke. */
export function BrokenPage({ error }: { readonly error: Error }) {
  useTitle('Something broke');
  return (
    <div role="alert" className="mx-auto max-w-xl px-6 py-24 text-center">
      <h1 className="text-xl font-semibold">This page broke</h1>
      <p className="mt-1 text-soft">
        The service goes on: only what is shown here is concerned. After an update of Waybill, loading the
        page anew cures it.
      </p>
      <pre className="mt-4 overflow-auto rounded-md border border-line bg-surface p-3 text-left text-sm whitespace-pre-wrap">
        {error.message}
      </pre>
      <Button className="mt-5" look="primary" onClick={() => window.location.reload()}>
        Load the page anew
      </Button>
    </div>
  );
}
