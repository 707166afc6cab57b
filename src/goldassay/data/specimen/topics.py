"""The subjects of the specimen and what may be said of them.

The properties of one topic are chosen such that none bears on another, and each has one value at a time: a
premise that is silent on a property leaves it open, and a premise that gives it one value excludes the others.
"""

from __future__ import annotations

from dataclasses import dataclass

from goldassay.data.specimen.lexicon import (
    AGE,
    CLOCK,
    COLOR,
    COUNTRY,
    DURATION,
    FIBER,
    FOOD,
    HEIGHT,
    INSTRUMENT,
    JOB,
    KIN,
    LANGUAGE,
    MATERIAL,
    MONTH,
    NUMBER,
    PET,
    PLACE,
    PRICE,
    RANK,
    SHARE,
    SHIRT,
    STAY,
    TEMPERATURE,
    THEME,
    VEHICLE,
    WEEKDAY,
    WEIGHT,
    YEAR,
    Scale,
)


@dataclass(frozen=True)
class Property:
    """One property of a topic's subjects.

    Attributes:
        scale: Its values.
        statements: Verb phrases with which a premise gives its value, `{x}`.
        claims: Sentences with which a hypothesis affirms and denies a value `{x}` of a subject `{s}`.
    """

    scale: Scale
    statements: tuple[str, ...]
    claims: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Topic:
    """What a pair of sentences is about.

    Attributes:
        nouns: The subjects; all of them fall under `hypernym`.
        adjectives: Bear on none of the properties.
        relative: The relative pronoun after a comma; `restrictive` is the one without.
        again: What takes the subject up in a second sentence.
    """

    name: str
    nouns: tuple[str, ...]
    hypernym: str
    adjectives: tuple[str, ...]
    properties: tuple[Property, ...]
    relative: str = "which"
    restrictive: str = "that"
    again: str = "it"
    plural: bool = False


FURNITURE = Topic(
    "furniture",
    ("bench", "table", "stool", "shelf", "chest", "desk", "pedestal", "counter"),
    "piece of furniture",
    ("handsome", "simple", "sturdy", "graceful"),
    (
        Property(
            MATERIAL,
            ("is made entirely of {x}", "is built of {x} and nothing else", "was carved out of {x} alone"),
            (
                ("{s} is made of {x}", "{s} is not made of {x}"),
                ("{x} is what {s} is made of", "{x} is not what {s} is made of"),
                ("the material of {s} is {x}", "the material of {s} is not {x}"),
            ),
        ),
        Property(
            COLOR,
            ("is painted {x} all over", "has been painted entirely {x}", "wears one even coat of {x} paint"),
            (
                ("{s} is {x}", "{s} is not {x}"),
                ("the color of {s} is {x}", "the color of {s} is not {x}"),
                ("someone has painted {s} {x}", "nobody has painted {s} {x}"),
            ),
        ),
        Property(
            PLACE,
            ("stands {x}", "is kept {x}", "has been left {x}"),
            (
                ("{s} is {x}", "{s} is not {x}"),
                ("{s} can be found {x}", "{s} cannot be found {x}"),
            ),
        ),
        Property(
            PRICE,
            ("costs {x}", "is for sale at {x}", "bears a price tag of {x}"),
            (
                ("{s} costs {x}", "{s} does not cost {x}"),
                ("the price of {s} is {x}", "the price of {s} is not {x}"),
                ("the dealer asks {x} for {s}", "the dealer does not ask {x} for {s}"),
            ),
        ),
        Property(
            YEAR,
            ("dates from {x}", "was finished in {x}", "left the workshop in {x}"),
            (
                ("{s} is from {x}", "{s} is not from {x}"),
                ("{s} was completed in {x}", "{s} was not completed in {x}"),
            ),
        ),
    ),
)

MUSIC = Topic(
    "music",
    ("librarian", "plumber", "gardener", "barber", "florist", "mechanic", "tailor", "cashier"),
    "musician",
    ("cheerful", "quiet", "polite", "nervous"),
    (
        Property(
            INSTRUMENT,
            (
                "played {x} throughout the concert",
                "played {x} in every piece of the concert",
                "performed on {x} for the whole concert",
            ),
            (
                ("{s} played {x} in the concert", "{s} did not play {x} in the concert"),
                ("{x} was played by {s}", "{x} was not played by {s}"),
            ),
        ),
        Property(
            COUNTRY,
            ("was born in {x}", "is a native of {x}", "came into the world in {x}"),
            (
                ("{s} was born in {x}", "{s} was not born in {x}"),
                ("the birthplace of {s} lies in {x}", "the birthplace of {s} does not lie in {x}"),
            ),
        ),
        Property(
            AGE,
            ("was {x} at the time", "was {x} by then", "was {x} on the day of the concert"),
            (
                ("{s} was {x}", "{s} was not {x}"),
                ("the age of {s} was {x}", "the age of {s} was not {x}"),
            ),
        ),
        Property(
            WEEKDAY,
            ("joined the orchestra {x}", "first came to the orchestra {x}"),
            (
                ("{s} joined the orchestra {x}", "{s} did not join the orchestra {x}"),
                ("it was {x} that {s} joined", "it was not {x} that {s} joined"),
            ),
        ),
        Property(
            COLOR,
            ("wore a plain {x} jacket", "had on a jacket of {x} velvet", "was dressed in a {x} jacket"),
            (
                ("the jacket of {s} was {x}", "the jacket of {s} was not {x}"),
                ("{s} had a {x} jacket on", "{s} did not have a {x} jacket on"),
            ),
        ),
    ),
    relative="who",
    restrictive="who",
    again="the same person",
)

TRAVEL = Topic(
    "travel",
    ("hikers", "students", "nurses", "engineers", "pilgrims", "painters", "brothers", "retirees"),
    "travelers",
    ("cheerful", "weary", "curious", "patient"),
    (
        Property(
            COUNTRY,
            ("went to {x} and nowhere else", "spent the whole trip in {x}", "chose {x} as the only destination"),
            (
                ("{s} went to {x}", "{s} did not go to {x}"),
                ("the destination of {s} was in {x}", "the destination of {s} was not in {x}"),
                ("the journey took {s} to {x}", "the journey did not take {s} to {x}"),
            ),
        ),
        Property(
            VEHICLE,
            ("traveled {x} the whole way", "made the entire journey {x}", "came and left {x}"),
            (
                ("{s} traveled {x}", "{s} did not travel {x}"),
                ("the journey of {s} was made {x}", "the journey of {s} was not made {x}"),
            ),
        ),
        Property(
            MONTH,
            ("set out {x}", "started {x}", "left home {x}"),
            (
                ("{s} left {x}", "{s} did not leave {x}"),
                ("the departure of {s} was {x}", "the departure of {s} was not {x}"),
            ),
        ),
        Property(
            STAY,
            ("stayed away for {x}", "were gone for {x}", "spent {x} away from home"),
            (
                ("{s} were away for {x}", "{s} were not away for {x}"),
                ("the trip took {s} {x}", "the trip did not take {s} {x}"),
            ),
        ),
        Property(
            NUMBER,
            ("were {x} in number", "formed a party of {x} people", "filled {x} seats in all"),
            (
                ("there were {x} of {s}", "there were not {x} of {s}"),
                ("{s} were {x} people", "{s} were not {x} people"),
            ),
        ),
    ),
    relative="who",
    restrictive="who",
    again="they",
    plural=True,
)

KITCHEN = Topic(
    "kitchen",
    ("pie", "pancake", "sandwich", "dumpling", "tart", "pasty", "roll", "pastry"),
    "dish",
    ("tempting", "modest", "generous", "tasty"),
    (
        Property(
            FOOD,
            ("was filled with nothing but {x}", "held {x} and no other filling", "had a filling of pure {x}"),
            (
                ("{s} was filled with {x}", "{s} was not filled with {x}"),
                ("{s} had {x} inside", "{s} did not have {x} inside"),
                ("{s} contained {x}", "{s} did not contain {x}"),
            ),
        ),
        Property(
            KIN,
            ("was prepared by {x} alone", "was made by {x} without any help", "had {x} as its only cook"),
            (
                ("{s} was made by {x}", "{s} was not made by {x}"),
                ("{x} prepared {s}", "it was not {x} who prepared {s}"),
                ("the cook of {s} was {x}", "the cook of {s} was not {x}"),
            ),
        ),
        Property(
            TEMPERATURE,
            ("came to the table {x}", "was served {x}", "arrived {x} on its plate"),
            (
                ("{s} was {x} when it was served", "{s} was not {x} when it was served"),
                ("the guests got {s} {x}", "the guests did not get {s} {x}"),
            ),
        ),
        Property(
            CLOCK,
            ("was eaten {x}", "was eaten by the guests {x}", "was consumed {x}"),
            (
                ("the guests ate {s} {x}", "the guests did not eat {s} {x}"),
                ("{s} was eaten {x}", "{s} was not eaten {x}"),
            ),
        ),
        Property(
            COUNTRY,
            ("followed a recipe from {x}", "was made after a recipe found in {x}"),
            (
                ("the recipe of {s} came from {x}", "the recipe of {s} did not come from {x}"),
                ("{s} had a recipe from {x}", "{s} did not have a recipe from {x}"),
            ),
        ),
    ),
)

RACING = Topic(
    "racing",
    ("runner", "rower", "skier", "cyclist", "swimmer", "sprinter", "skater", "jockey"),
    "athlete",
    ("calm", "stubborn", "modest", "famous"),
    (
        Property(
            RANK,
            ("finished {x}", "ended the race {x}", "crossed the line {x}"),
            (
                ("{s} finished {x}", "{s} did not finish {x}"),
                ("{s} placed {x}", "{s} did not place {x}"),
                ("the result put {s} {x}", "the result did not put {s} {x}"),
            ),
        ),
        Property(
            SHIRT,
            ("started with {x}", "was given {x}", "carried {x} from start to finish"),
            (
                ("{s} had {x}", "{s} did not have {x}"),
                ("{x} belonged to {s}", "{x} did not belong to {s}"),
            ),
        ),
        Property(
            COUNTRY,
            ("raced for a club in {x}", "belonged to a club based in {x}", "was sent by a club in {x}"),
            (
                ("{s} came from a club in {x}", "{s} did not come from a club in {x}"),
                ("the club of {s} was in {x}", "the club of {s} was not in {x}"),
            ),
        ),
        Property(
            COLOR,
            ("wore a plain {x} cap", "had a cap of {x} cloth on", "raced in a {x} cap"),
            (
                ("the cap of {s} was {x}", "the cap of {s} was not {x}"),
                ("{s} had a {x} cap", "{s} did not have a {x} cap"),
            ),
        ),
        Property(
            KIN,
            ("was coached by {x} alone", "had {x} as the only coach", "had no coach but {x}"),
            (
                ("{s} was coached by {x}", "{s} was not coached by {x}"),
                ("{x} coached {s}", "it was not {x} who coached {s}"),
                ("the coach of {s} was {x}", "the coach of {s} was not {x}"),
            ),
        ),
    ),
    relative="who",
    restrictive="who",
    again="the same person",
)

BUILDINGS = Topic(
    "buildings",
    ("library", "museum", "theater", "hospital", "school", "bank", "hotel", "courthouse"),
    "building",
    ("stately", "plain", "imposing", "quiet"),
    (
        Property(
            NUMBER,
            ("has {x} floors", "rises over {x} floors", "consists of {x} floors"),
            (
                ("{s} has {x} floors", "{s} does not have {x} floors"),
                ("there are {x} floors in {s}", "there are not {x} floors in {s}"),
                ("the floors of {s} are {x} in number", "the floors of {s} are not {x} in number"),
            ),
        ),
        Property(
            YEAR,
            ("was opened in {x}", "received its first visitors in {x}", "has existed since its opening in {x}"),
            (
                ("{s} was opened in {x}", "{s} was not opened in {x}"),
                ("the opening of {s} took place in {x}", "the opening of {s} did not take place in {x}"),
            ),
        ),
        Property(
            COLOR,
            ("has a plain {x} front", "shows the street a {x} front", "is {x} on the side facing the street"),
            (
                ("the front of {s} is {x}", "the front of {s} is not {x}"),
                ("{s} has a {x} front", "{s} does not have a {x} front"),
            ),
        ),
        Property(
            MATERIAL,
            ("has a staircase made only of {x}", "possesses a staircase of solid {x}"),
            (
                ("the staircase of {s} is made of {x}", "the staircase of {s} is not made of {x}"),
                ("{s} has a staircase of {x}", "{s} does not have a staircase of {x}"),
            ),
        ),
        Property(
            KIN,
            ("was designed by {x} alone", "had {x} as its only architect", "is the work of {x} alone"),
            (
                ("{s} was designed by {x}", "{s} was not designed by {x}"),
                ("the architect of {s} was {x}", "the architect of {s} was not {x}"),
            ),
        ),
    ),
)

MEETINGS = Topic(
    "meetings",
    ("meeting", "seminar", "hearing", "lecture", "workshop", "briefing", "debate", "conference"),
    "event",
    ("lively", "formal", "public", "cordial"),
    (
        Property(
            WEEKDAY,
            ("took place {x}", "was held {x}", "had been called {x}"),
            (
                ("{s} took place {x}", "{s} did not take place {x}"),
                ("{s} was {x}", "{s} was not {x}"),
            ),
        ),
        Property(
            CLOCK,
            ("began {x}", "opened {x}", "got under way {x}"),
            (
                ("{s} began {x}", "{s} did not begin {x}"),
                ("the start of {s} was {x}", "the start of {s} was not {x}"),
            ),
        ),
        Property(
            DURATION,
            ("lasted {x}", "went on for {x}", "was over after {x}"),
            (
                ("{s} lasted {x}", "{s} did not last {x}"),
                ("the length of {s} was {x}", "the length of {s} was not {x}"),
            ),
        ),
        Property(
            LANGUAGE,
            ("was conducted entirely in {x}", "used {x} and no other language", "proceeded only in {x}"),
            (
                ("the language of {s} was {x}", "the language of {s} was not {x}"),
                ("people spoke {x} during {s}", "nobody spoke {x} during {s}"),
            ),
        ),
        Property(
            THEME,
            ("dealt only with {x}", "was about {x} and nothing else", "had {x} as its only theme"),
            (
                ("{s} was about {x}", "{s} was not about {x}"),
                ("the theme of {s} was {x}", "the theme of {s} was not {x}"),
                ("{x} were discussed during {s}", "{x} were not discussed during {s}"),
            ),
        ),
    ),
)

GARDEN = Topic(
    "garden",
    ("rosebush", "hedge", "shrub", "lilac", "magnolia", "creeper", "sapling", "jasmine"),
    "plant",
    ("splendid", "healthy", "fragrant", "lovely"),
    (
        Property(
            HEIGHT,
            ("is {x} tall", "measures {x} from the ground to the top", "has grown to a height of {x}"),
            (
                ("{s} is {x} tall", "{s} is not {x} tall"),
                ("the height of {s} is {x}", "the height of {s} is not {x}"),
            ),
        ),
        Property(
            KIN,
            ("was planted by {x} alone", "was put into the ground by {x} without any help"),
            (
                ("{s} was planted by {x}", "{s} was not planted by {x}"),
                ("{x} planted {s}", "it was not {x} who planted {s}"),
            ),
        ),
        Property(
            MONTH,
            ("was bought by its owner {x}", "was bought {x}", "was sold to its owner {x}"),
            (
                ("the owner bought {s} {x}", "the owner did not buy {s} {x}"),
                ("the purchase of {s} was {x}", "the purchase of {s} was not {x}"),
            ),
        ),
        Property(
            COLOR,
            ("grows in a {x} pot", "has a pot of {x} clay", "fills a big {x} pot"),
            (
                ("the pot of {s} is {x}", "the pot of {s} is not {x}"),
                ("{s} has a {x} pot", "{s} does not have a {x} pot"),
            ),
        ),
        Property(
            COUNTRY,
            ("was raised in {x}", "comes from a nursery in {x}"),
            (
                ("{s} comes from {x}", "{s} does not come from {x}"),
                ("the nursery of {s} is in {x}", "the nursery of {s} is not in {x}"),
            ),
        ),
    ),
)

POST = Topic(
    "post",
    ("parcel", "crate", "package", "box", "sack", "hamper", "basket", "barrel"),
    "delivery",
    ("bulky", "battered", "neat", "mysterious"),
    (
        Property(
            WEIGHT,
            ("weighs {x}", "brings {x} to the scales", "has a weight of {x}"),
            (
                ("{s} weighs {x}", "{s} does not weigh {x}"),
                ("the weight of {s} is {x}", "the weight of {s} is not {x}"),
            ),
        ),
        Property(
            COUNTRY,
            ("is addressed to a shop in {x}", "is on its way to {x}", "will be delivered in {x}"),
            (
                ("{s} is meant for {x}", "{s} is not meant for {x}"),
                ("the destination of {s} is in {x}", "the destination of {s} is not in {x}"),
            ),
        ),
        Property(
            KIN,
            ("was packed by {x} alone", "was filled and closed by {x} without any help"),
            (
                ("{s} was packed by {x}", "{s} was not packed by {x}"),
                ("{x} packed {s}", "it was not {x} who packed {s}"),
            ),
        ),
        Property(
            FOOD,
            ("contains only {x}", "is full of {x} and nothing else", "holds {x} and no other goods"),
            (
                ("{s} contains {x}", "{s} does not contain {x}"),
                ("{s} has {x} inside", "{s} does not have {x} inside"),
            ),
        ),
        Property(
            COLOR,
            ("bears a plain {x} label", "is marked with a {x} label", "has a label of {x} paper"),
            (
                ("the label on {s} is {x}", "the label on {s} is not {x}"),
                ("{s} has a {x} label", "{s} does not have a {x} label"),
            ),
        ),
    ),
)

HOUSEHOLDS = Topic(
    "households",
    ("tenant", "neighbor", "landlord", "lodger", "widow", "newcomer", "homeowner", "bachelor"),
    "person",
    ("friendly", "shy", "talkative", "reliable"),
    (
        Property(
            PET,
            ("keeps {x} and no other pet", "owns {x} as an only pet", "has a single pet which is {x}"),
            (
                ("the only pet of {s} is {x}", "the only pet of {s} is not {x}"),
                ("{s} has {x}", "{s} does not have {x}"),
            ),
        ),
        Property(
            JOB,
            ("works {x} and has no other job", "works only {x}", "earns every penny {x}"),
            (
                ("{s} works {x}", "{s} does not work {x}"),
                ("{s} has a job {x}", "{s} does not have a job {x}"),
            ),
        ),
        Property(
            AGE,
            ("is {x}", "is {x} at present", "is {x} according to the register"),
            (
                ("{s} is {x}", "{s} is not {x}"),
                ("the age of {s} is {x}", "the age of {s} is not {x}"),
            ),
        ),
        Property(
            NUMBER,
            ("has {x} cousins", "has {x} cousins in all", "has {x} cousins altogether"),
            (
                ("{s} has {x} cousins", "{s} does not have {x} cousins"),
                ("the cousins of {s} are {x} in number", "the cousins of {s} are not {x} in number"),
            ),
        ),
        Property(
            COUNTRY,
            ("grew up in {x}", "spent a whole childhood in {x}"),
            (
                ("{s} grew up in {x}", "{s} did not grow up in {x}"),
                ("the childhood of {s} passed in {x}", "the childhood of {s} did not pass in {x}"),
            ),
        ),
    ),
    relative="who",
    restrictive="who",
    again="the same person",
)

CLOTHING = Topic(
    "clothing",
    ("coat", "scarf", "dress", "skirt", "jacket", "sweater", "shawl", "blouse"),
    "garment",
    ("elegant", "comfortable", "simple", "fashionable"),
    (
        Property(
            FIBER,
            ("is woven entirely from {x}", "consists of {x} and nothing else", "is made only of {x}"),
            (
                ("{s} is made of {x}", "{s} is not made of {x}"),
                ("the fabric of {s} is {x}", "the fabric of {s} is not {x}"),
            ),
        ),
        Property(
            COLOR,
            ("is dyed {x} all over", "is {x} from top to bottom", "comes in a single {x} shade"),
            (
                ("{s} is {x}", "{s} is not {x}"),
                ("the color of {s} is {x}", "the color of {s} is not {x}"),
            ),
        ),
        Property(
            PRICE,
            ("costs {x}", "is sold for {x}", "has a price tag of {x}"),
            (
                ("{s} costs {x}", "{s} does not cost {x}"),
                ("the price of {s} is {x}", "the price of {s} is not {x}"),
            ),
        ),
        Property(
            KIN,
            ("was sewn by {x} alone", "was made by {x} without any help", "is the work of {x} alone"),
            (
                ("{s} was sewn by {x}", "{s} was not sewn by {x}"),
                ("{x} made {s}", "it was not {x} who made {s}"),
            ),
        ),
        Property(
            WEEKDAY,
            ("reached the shop {x}", "was delivered to the shop {x}", "got to the shop {x}"),
            (
                ("the shop got {s} {x}", "the shop did not get {s} {x}"),
                ("it was {x} that the shop received {s}", "it was not {x} that the shop received {s}"),
            ),
        ),
    ),
)

STAGE = Topic(
    "stage",
    ("play", "musical", "opera", "ballet", "comedy", "tragedy", "pantomime", "revue"),
    "performance",
    ("celebrated", "daring", "touching", "bold"),
    (
        Property(
            SHARE,
            ("was given with {x} of the seats taken", "had {x} of its seats filled", "sold {x} of its tickets"),
            (
                ("{s} had {x} of its seats taken", "it is not true that {s} had {x} of its seats taken"),
                ("{x} of the seats for {s} were sold", "it is not true that {x} of the seats for {s} were sold"),
            ),
        ),
        Property(
            CLOCK,
            ("began {x}", "opened {x}", "got under way {x}"),
            (
                ("{s} began {x}", "{s} did not begin {x}"),
                ("the curtain rose on {s} {x}", "the curtain did not rise on {s} {x}"),
            ),
        ),
        Property(
            DURATION,
            ("lasted {x}", "went on for {x}", "was over after {x}"),
            (
                ("{s} lasted {x}", "{s} did not last {x}"),
                ("the length of {s} was {x}", "the length of {s} was not {x}"),
            ),
        ),
        Property(
            LANGUAGE,
            ("was given entirely in {x}", "had a text in {x} only", "used {x} and no other language"),
            (
                ("the language of {s} was {x}", "the language of {s} was not {x}"),
                ("the audience heard {s} in {x}", "the audience did not hear {s} in {x}"),
            ),
        ),
        Property(
            NUMBER,
            ("had a cast of {x} people", "needed {x} performers", "brought {x} performers on the stage"),
            (
                ("the cast of {s} numbered {x}", "the cast of {s} did not number {x}"),
                ("{s} had {x} performers", "{s} did not have {x} performers"),
            ),
        ),
    ),
)

TOPICS = (
    FURNITURE,
    MUSIC,
    TRAVEL,
    KITCHEN,
    RACING,
    BUILDINGS,
    MEETINGS,
    GARDEN,
    POST,
    HOUSEHOLDS,
    CLOTHING,
    STAGE,
)
