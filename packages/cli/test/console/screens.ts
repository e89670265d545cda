import type { Page } from "playwright-core";
import type { Step } from "./demo.js";

/** Returns how a state is reached from the one before, and the lines of its screen. */
const by =
  (...steps: readonly Step[]) =>
  ([screen = ""]: TemplateStringsArray) => ({ steps, lines: screen.trim().split(/\n +/) });

/** The main states of the console of the demo store, each reached from the one before. */
export const STATES: Readonly<Record<string, ReturnType<ReturnType<typeof by>>>> = {
  keys: by()`
    Keys – Pet store console: Pet store Console [Keys href=#keys current=page] [Pets href=#pets] admin@long.long.long.long.long.long.long.long.long.example.com
    # Keys [Issue a key]
    [Search by label, id, hint or a pasted secret '' type=search maxlength=200] [Order /*Newest first / Most used first] [Plan /*All plans / free / pro / business / enterprise]
    (group: State [all 10 pressed] [active 7] [expiring 1] [replaced 1] [banned 1] [expired 1] [revoked 1])
    || Key || Plan || Minute || Day || Last use || State
    || [Mobile app href=#keys/key_0VYEjmgS000wy406Hq] pet_live_Utsa… | business | (meter: Minute: 18 of 1,000 used 1.8% min=0 now=18 max=1000) 18 of 1,000 resets 5:30:30 PM GMT+5:30 (in 49 s) | (meter: Day: 18 of 100,000 used 0.018% min=0 now=18 max=100000) 18 of 100,000 resets Nov 25, 5:29 PM GMT+5:30 (in 24 h) | 5:29:30 PM GMT+5:30 | active
    || [Price scraper href=#keys/key_0VYE0T6u0000NTVCNI] pet_live_XOmk… | free | (meter: Minute: 60 of 60 used 100% min=0 now=60 max=60) 60 of 60 resets 5:30:32 PM GMT+5:30 (in 51 s) | (meter: Day: 1,000 of 1,000 used 100% min=0 now=1000 max=1000) 1,000 of 1,000 resets 5:30:32 PM GMT+5:30 (in 51 s) | 5:29:30 PM GMT+5:30 | banned until 5:30:32 PM GMT+5:30
    || [Weekend fair href=#keys/key_0VYDH9XM000s289NbC] pet_live_KM5Z… | free | (meter: Minute: 3 of 60 used 5% min=0 now=3 max=60) 3 of 60 resets 5:30:30 PM GMT+5:30 (in 49 s) | (meter: Day: 3 of 1,000 used 0.3% min=0 now=3 max=1000) 3 of 1,000 resets Nov 25, 5:29 PM GMT+5:30 (in 24 h) | 5:29:30 PM GMT+5:30 | active expires Nov 27, 5:30 PM GMT+5:30
    || [Breeders' union href=#keys/key_0VYCXpxo000Zvpa6RP] pet_live_pVgt… | enterprise | (meter: Minute: 1,300 of 5,000 used 26% min=0 now=1300 max=5000) 1,300 of 5,000 resets 5:30:30 PM GMT+5:30 (in 49 s) | (meter: Day: 1,300 of 2,000,000 used 0.065% min=0 now=1300 max=2000000) 1,300 of 2,000,000 resets Nov 25, 5:29 PM GMT+5:30 (in 24 h) | 5:29:30 PM GMT+5:30 | active
    || [Katzenhaus Zürich href=#keys/key_0VYBoWOG000gEPCclg] pet_live_hzZL… | free | (meter: Minute: 57 of 60 used 95% min=0 now=57 max=60) 57 of 60 resets 5:30:30 PM GMT+5:30 (in 49 s) | (meter: Day: 57 of 1,000 used 5.7% min=0 now=57 max=1000) 57 of 1,000 resets Nov 25, 5:29 PM GMT+5:30 (in 24 h) | 5:29:30 PM GMT+5:30 | active
    || [Tierheim München href=#keys/key_0VYB5Coi000M7j6DYJ] pet_live_ZKfe… | pro | (meter: Minute: 41 of 300 used 13.6667% min=0 now=41 max=300) 41 of 300 resets 5:30:30 PM GMT+5:30 (in 49 s) | (meter: Day: 41 of 10,000 used 0.41% min=0 now=41 max=10000) 41 of 10,000 resets Nov 25, 5:29 PM GMT+5:30 (in 24 h) | 5:29:30 PM GMT+5:30 | active
    || [Happy Paws, Lyon href=#keys/key_0VYALtFA000ofnv0vv] pet_live_BsNb… | pro | (meter: Minute: 212 of 300 used 70.6667% min=0 now=212 max=300) 212 of 300 resets 5:30:30 PM GMT+5:30 (in 49 s) | (meter: Day: 212 of 10,000 used 2.12% min=0 now=212 max=10000) 212 of 10,000 resets Nov 25, 5:29 PM GMT+5:30 (in 24 h) | 5:29:30 PM GMT+5:30 | active old secret until Nov 25, 5:29 PM GMT+5:30
    || [Adopt-a-pet, website href=#keys/key_0VY9cZfc000zDqtSyi] pet_live_Az3O… | business | (meter: Minute: 640 of 1,000 used 64% min=0 now=640 max=1000) 640 of 1,000 resets 5:30:30 PM GMT+5:30 (in 49 s) | (meter: Day: 640 of 100,000 used 0.64% min=0 now=640 max=100000) 640 of 100,000 resets Nov 25, 5:29 PM GMT+5:30 (in 24 h) | 5:29:30 PM GMT+5:30 | active
    || [Zoo Basel (pilot) href=#keys/key_0VY8tG64000UPnaMtg] pet_live_KDP5… | free | (meter: Minute: 0 of 60 used 0% min=0 now=0 max=60) 0 of 60 unused | (meter: Day: 0 of 1,000 used 0% min=0 now=0 max=1000) 0 of 1,000 unused | never | expired Nov 19, 5:30 PM GMT+5:30
    || [Trial of October href=#keys/key_0VY89wWW000lmhINXI] pet_live_sM6E… | free | (meter: Minute: 0 of 60 used 0% min=0 now=0 max=60) 0 of 60 unused | (meter: Day: 0 of 1,000 used 0% min=0 now=0 max=1000) 0 of 1,000 unused | never | revoked Oct 15, 8:30 PM GMT+5:30
    Pages (status: 1 to 10 of 10) [Previous disabled] [Next disabled]`,
  issue: by("Issue a key", { Label: "Rescue North", Plan: "pro" })`
    ## Issue a key
    Label by which you recognize it »['Rescue North' maxlength=200]
    Plan [ / free (60 per minute, 1,000 per day) /*pro (300 per minute, 10,000 per day) / business (1,000 per minute, 100,000 per day) / enterprise (limits of its own)]
    Expires empty: never ['' type=datetime-local]
    [Issue type=submit] [Cancel]`,
  secret: by("Issue")`
    ## Issue a key
    Rescue North on the pro plan. The secret is shown only now. Only its hash is stored.
    Secret pet_live_yizx8uym86VQDu65iarYKR80B3iVus3WY84u »[Copy Secret] (status: )
    Try it curl -i -H "Authorization: Bearer pet_live_yizx8uym86VQDu65iarYKR80B3iVus3WY84u" "http://127.0.0.1:3000/v1/pets?limit=5" [Copy Try it] (status: )
    [I have stored it]`,
  found: by("I have stored it", "banned 1", { Order: "use", Search: "SCRAPER" })`
    Keys – Pet store console: Pet store Console [Keys href=#keys current=page] [Pets href=#pets] admin@long.long.long.long.long.long.long.long.long.example.com
    # Keys [Issue a key]
    »[Search by label, id, hint or a pasted secret 'SCRAPER' type=search maxlength=200] [Order / Newest first /*Most used first] [Plan /*All plans / free / pro / business / enterprise]
    (group: State [all 1] [active 0] [expiring 0] [replaced 0] [banned 1 pressed] [expired 0] [revoked 0])
    || Key || Plan || Minute || Day || Last use || State
    || [Price scraper href=#keys/key_0VYE0T6u0000NTVCNI] pet_live_XOmk… | free | (meter: Minute: 60 of 60 used 100% min=0 now=60 max=60) 60 of 60 resets 5:30:32 PM GMT+5:30 (in 51 s) | (meter: Day: 1,000 of 1,000 used 100% min=0 now=1000 max=1000) 1,000 of 1,000 resets 5:30:32 PM GMT+5:30 (in 51 s) | 5:29:30 PM GMT+5:30 | banned until 5:30:32 PM GMT+5:30
    Pages (status: 1 to 1 of 1 (of 11)) [Previous disabled] [Next disabled]`,
  key: by("Price scraper")`
    Key – Pet store console: Pet store Console [Keys href=#keys current=page] [Pets href=#pets] admin@long.long.long.long.long.long.long.long.long.example.com
    [All keys href=#keys]
    »# Price scraper
    State : banned until 5:30:32 PM GMT+5:30
    Minute : (meter: Minute: 60 of 60 used 100% min=0 now=60 max=60) 60 of 60 resets 5:30:32 PM GMT+5:30 (in 51 s)
    Day : (meter: Day: 1,000 of 1,000 used 100% min=0 now=1000 max=1000) 1,000 of 1,000 resets 5:30:32 PM GMT+5:30 (in 51 s)
    Plan : free 60 per minute, 1,000 per day
    Last use : 5:29:30 PM GMT+5:30
    Issued : Oct 16, 8:30 PM GMT+5:30
    Expires : never
    Secret :
    pet_live_XOmk…
    Id : key_0VYE0T6u0000NTVCNI
    [Lift the ban] [Rotate…] [Change plan…] [Revoke…]`,
  revoke: by("Revoke…", { "To confirm": "Price scr" })`
    ## Revoke the key
    All requests with Price scraper (pet_live_XOmk…) are refused from now on. This cannot be undone.
    It was last used 5:29:30 PM GMT+5:30.
    To confirm, type Price scraper »['Price scr']
    [Revoke type=submit disabled] [Cancel]`,
  rotate: by("Cancel", "Rotate…", { "is accepted": "0" }, "Rotate")`
    ## Rotate the secret
    Price scraper gets a new secret. Plan, limits and usage stay.
    The old secret (pet_live_XOmk…) is accepted [ / for one more hour / for one more day / for one more week /*not at all: refused at once]
    »[Press again: pet_live_XOmk… ends now type=submit] [Cancel]`,
  plan: by("Cancel", "Keys", { Search: "Breed" }, "active 1", "Breeders' union", "Change plan…")`
    ## Change the plan
    What Breeders' union has used in its current windows stays counted.
    Plan »[ / free (60 per minute, 1,000 per day) / pro (300 per minute, 10,000 per day) / business (1,000 per minute, 100,000 per day) /*enterprise (limits of its own)]
    Requests per minute ['5000' type=number required min=1 max=9007199254740991 step=1]
    Requests per day ['2000000' type=number required min=1 max=9007199254740991 step=1]
    [Change type=submit] [Cancel]`,
  end: by("Cancel", "Keys", { Search: "Lyon" }, "replaced 1", "Happy Paws, Lyon", "End…")`
    ## End a secret
    Requests with pet_live_W0Ny… are refused from now on. The other secrets of Happy Paws, Lyon stay valid. This cannot be undone.
    »[End type=submit] [Cancel]`,
  pets: by("Cancel", "Pets")`
    Pets – Pet store console: Pet store Console [Keys href=#keys] »[Pets href=#pets current=page] admin@long.long.long.long.long.long.long.long.long.example.com
    # Pets [Add a pet]
    [Status /*All statuses / available / pending / sold] [From id '' type=search inputmode=numeric]
    || Id || Name || Category || Status
    || 1 | Rex | 7 | available
    || 2 | Mimi | 2 | available
    || 3 | Bello | 7 | pending
    || 4 | Гром | 7 | available
    || 5 | Nemo | 9223372036854775807 | sold
    || 6 | Hedwig | 12 | available
    Pages (status: Ids 1 to 6) [Previous disabled] [Next disabled]`,
  refused: by("Add a pet", { Name: "Rex", Category: "1.5" }, "Add")`
    ## Add a pet
    Name ['Rex']
    Category an id: a whole number ['1.5' required inputmode=numeric]
    Status [ /*available / pending / sold] (alert: categoryId must be an int64 integer.)
    »[Add type=submit] [Cancel]`,
  added: by({ Category: "-7" }, "Add")`
    ## Add a pet
    (status: Rex was added with the id 7.)
    »[Close]`,
};

/** Returns the lines of a page, or of its dialog. A control is in brackets, a role is named; `»` is the focus. */
export const screenOf = (page: Page) => page.evaluate<readonly string[]>(READ);

const READ = `(() => {
  const states = ["disabled", "pressed", "current", "invalid", "valuemin", "valuenow", "valuemax"];
  const properties = ["href", "type", "required", "min", "max", "step", "maxlength", "inputmode"];
  const beginnings = { th: "|| ", td: "| ", h1: "# ", h2: "## ", dd: ": " };
  const shown = (node) => {
    if (!(node instanceof HTMLElement)) return node.data;
    const { localName: name, role, ariaLabel, value, style } = node;
    const content = [...node.childNodes].map(shown).join("").trimEnd();
    if (name === "option") return (node.selected ? " /*" : " / ") + content;
    if (role === "alert" && content === "") return "";
    const about = document.getElementById(node.getAttribute("aria-describedby"));
    const has = [...properties, ...states.map((state) => "aria-" + state)]
      .filter((each) => ![null, "false", "button"].includes(node.getAttribute(each)))
      .map((each) => (each + "=" + node.getAttribute(each)).replace(/^aria-(value)?|=(true)?$/g, ""));
    const typed = name === "input" && "'" + value + "'";
    const parts = [ariaLabel, content, about?.textContent, typed, style.width, ...has, node.matches(":disabled") && "disabled"];
    const text = parts.filter(Boolean).join(" ");
    const { display, filter } = getComputedStyle(node);
    const before = (filter === "none" ? "" : "(grey) ") + (node.matches(":focus") ? "»" : "");
    if (/^(a|button|input|select)$/.test(name)) return before + "[" + text + "] ";
    if (role !== null) return before + "(" + role + ": " + text.trim() + ") ";
    const whole = before + (beginnings[name] ?? "") + text;
    if (/^(h2|p|div|table|tr|label)$/.test(name)) return "\\n" + whole + "\\n";
    return display === "inline" ? whole : whole + " ";
  };
  const dialog = document.querySelector(":modal");
  const [title, whole] = [document.title + ": ", document.querySelector("#console")];
  const text = dialog ? shown(dialog) : title + shown(whole).trim();
  return text.split("\\n").map((line) => line.replace(/\\s+/g, " ").trim()).filter(Boolean);
})()`;
