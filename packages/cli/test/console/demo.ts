import { createHash } from "node:crypto";
import { createManualClock, createPetStore, type PetStore } from "@petstore/core";
import type { Page } from "playwright-core";

/** 24 November 2026, 12:00 UTC. */
const NOON = Date.UTC(2026, 10, 24, 12);
const DAY = 86_400_000;

/** Creates a store in memory with keys in all states, with usage, and with pets, for screenshots of the console. */
export async function createDemoStore(): Promise<PetStore> {
  const clock = createManualClock(NOON - 40 * DAY);
  let drawn = 0;
  // So that pictures of it differ only when the console does.
  const random = (size: number): Uint8Array =>
    createHash("shake256", { outputLength: size }).update(`demo ${drawn++}`).digest();
  const store = createPetStore({ clock, random });
  const issue = async (label: string, plan: string, more: object = {}) => {
    clock.advance(3 * 3_600_000);
    const issued = await store.keys.issue({ plan, label, ...more });
    if (issued.isErr()) throw new Error(issued.error.message);
    return { id: issued.value.key.id, secret: issued.value.secret };
  };
  const use = async (secret: string, times: number): Promise<void> => {
    for (let index = 0; index < times; index += 1) await store.as(secret).listPets({ limit: 1 });
  };

  for (const [name, categoryId, status] of PETS) {
    await store.trusted.createPet({ name, categoryId, status });
  }
  const trial = await issue("Trial of October", "free");
  await store.keys.revoke(trial.id);
  await issue("Zoo Basel (pilot)", "free", { expiresAt: NOON - 5 * DAY });
  const keys = [
    await issue("Adopt-a-pet, website", "business"),
    await issue("Happy Paws, Lyon", "pro"),
    await issue("Tierheim München", "pro"),
    await issue("Katzenhaus Zürich", "free"),
    await issue("Breeders' union", "enterprise", {
      limits: { perMinute: 5_000, perDay: 2_000_000 },
    }),
    await issue("Weekend fair", "free", { expiresAt: NOON + 3 * DAY }),
    await issue("Price scraper", "free"),
    await issue("Mobile app", "business"),
  ] as const;
  clock.advance(NOON - clock.now() - 30_000);
  const counts = [640, 212, 41, 57, 1_300, 3, 0, 18];
  for (const [index, { secret }] of keys.entries()) await use(secret, counts[index] ?? 0);
  await store.keys.rotate(keys[1].id, { overlapSeconds: 86_400 });
  const scraper = keys[6].secret;
  await use(scraper, 61);
  clock.advance(2_000);
  await use(scraper, 70);
  clock.advance(9_000);
  return store;
}

const PETS = [
  ["Rex", 7n, "available"],
  ["Mimi", 2n, "available"],
  ["Bello", 7n, "pending"],
  ["Гром", 7n, "available"],
  ["Nemo", 9_223_372_036_854_775_807n, "sold"],
  ["Hedwig", 12n, "available"],
] as const;

export const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
export const dialog = (page: Page) => page.getByRole("dialog");
export const link = (page: Page, name: string) => page.getByRole("link", { name });

/** The main states of the console of the demo store, each reached from the one before. */
export const STATES: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  keys: (page) => link(page, "Mobile app").waitFor(),
  issue: async (page) => {
    await button(page, "Issue a key").click();
    await dialog(page).getByLabel("Label").fill("Rescue North");
    await dialog(page).getByLabel("Plan").selectOption("enterprise");
  },
  secret: async (page) => {
    await dialog(page).getByLabel("Plan").selectOption("pro");
    await button(page, "Issue").click();
    await page.getByText("The secret is shown only now.").waitFor();
  },
  key: async (page) => {
    await button(page, "I have stored it").click();
    await button(page, "banned 1").click();
    await page.getByText("1 to 1 of 1 (of").waitFor();
    await link(page, "Price scraper").click();
    await button(page, "Lift the ban").waitFor();
  },
  revoke: async (page) => {
    await button(page, "Revoke…").click();
    await dialog(page).getByRole("textbox").fill("Price scr");
  },
  rotate: async (page) => {
    await button(page, "Cancel").click();
    await button(page, "Rotate…").click();
    await dialog(page).getByRole("combobox").selectOption("0");
    await button(page, "Rotate").click();
  },
  pets: async (page) => {
    await button(page, "Cancel").click();
    await link(page, "Pets").click();
    await page.getByText("Hedwig").waitFor();
  },
  refused: async (page) => {
    await button(page, "Add a pet").click();
    await dialog(page).getByLabel("Name").fill("Rex");
    await dialog(page).getByLabel("Category").fill("1.5");
    await button(page, "Add").click();
    await page.getByText("categoryId must be an int64 integer").waitFor();
  },
};
