import { CircleAlert } from 'lucide-react';

/** What is wrong with a form as a whole; above its buttons. Shows nothing where nothing is. */
export function FormError({ children }: { readonly children: string | null }) {
  if (children === null) return null;
  return (
    <div
      role="alert"
      className="flex items-start gap-2.5 rounded-md border border-failed/30 bg-failed-soft px-3 py-2.5"
    >
      <CircleAlert aria-hidden size={16} className="mt-0.5 shrink-0 text-failed" />
      <div className="min-w-0 break-words whitespace-pre-line">{children}</div>
    </div>
  );
}
