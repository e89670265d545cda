import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { usePolled } from "./call.js";
import { KeyPage } from "./key-page.js";
import { KeysPage, type KeyQuery } from "./keys-page.js";
import { PetsPage } from "./pets-page.js";
import { useSecrets } from "./secrets.js";
import { Alert } from "./controls.js";
import { focusHeading } from "./dialog.js";

function Console() {
  const path = useHash();
  const [query, setQuery] = useState<KeyQuery>({ search: "", order: "newest", page: 0 });
  const { output: info, problem } = usePolled("info", {});
  const secrets = useSecrets(info?.baseUrl ?? "");
  const isPets = path === "pets";
  const [, id] = /^keys\/(.+)$/.exec(path) ?? [];
  const ofKeys = id === undefined ? "Keys" : "Key";
  const title = isPets ? "Pets" : ofKeys;
  useEffect(() => {
    document.title = `${title} – Pet store console`;
  }, [title]);
  // The link that was followed may be gone.
  useEffect(() => focusHeading, [path]);
  const page = () => {
    if (info === undefined)
      return (
        <main>
          <h1>{title}</h1>
          <Alert text={problem?.message} />
        </main>
      );
    if (isPets) return <PetsPage />;
    if (id !== undefined) return <KeyPage key={id} id={id} info={info} secrets={secrets} />;
    return <KeysPage info={info} secrets={secrets} query={query} setQuery={setQuery} />;
  };
  return (
    <>
      <header>
        <img src="icon.svg" alt="" width={24} height={24} />
        <strong>Pet store</strong>
        <nav aria-label="Console">
          <a href="#keys" aria-current={isPets ? undefined : "page"}>
            Keys
          </a>
          <a href="#pets" aria-current={isPets ? "page" : undefined}>
            Pets
          </a>
        </nav>
        <span class="faint actor">{info?.actor}</span>
      </header>
      {page()}
      {info !== undefined && secrets.dialog}
    </>
  );
}

function useHash(): string {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const update = (): void => setHash(location.hash);
    window.addEventListener("hashchange", update);
    return () => window.removeEventListener("hashchange", update);
  }, []);
  return hash.slice(1);
}

// A held Enter, or a double click, is for what was there at first. Space presses a button only at its release.
const ignoreRepeated = (event: KeyboardEvent): void => {
  if (event.repeat && event.key === "Enter") event.preventDefault();
};
const ignoreDouble = (event: MouseEvent): void => {
  const { detail, target } = event;
  if (detail < 2 || !(target instanceof Element) || target.closest(".pager") !== null) return;
  event.preventDefault();
  event.stopPropagation();
};
document.addEventListener("keydown", ignoreRepeated, true);
document.addEventListener("click", ignoreDouble, true);

const root = document.querySelector("#console");
if (root !== null) render(<Console />, root);
